// Standard output and standard error. Either may be closed at any moment, and the disk that they write to may be full.
#pragma once

#include <troupe/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::cli {

/// Occupies those of the descriptors 0 to 2 that the parent left closed: otherwise the first file that is opened,
/// perhaps a checkpoint, would receive the output. Must precede any open. Writing to them still fails, as if they were
/// closed.
void occupy_standard_descriptors();

/// `text` with each control character, except newlines and tabs, and each byte that is not UTF-8 replaced by "\x1b" and
/// the like: names and contents of files may have any bytes. Visible text stays as it is, and so does the result of
/// this function.
std::string visible(std::string_view text);

/// Writes all of the text at once; returns false if that failed. A pipe without a reader is ignored, as in any program
/// before `head`; any other failure is an error, reported once on standard error. Any thread.
bool write_output(std::string_view text);
/// write_output for people: makes the text visible.
bool write_text(std::string_view text);
/// write_output for programs, which get the text unchanged; on a terminal it is made visible.
bool write_data(std::string_view text);
/// Must be the last call. Returns the exit status, which replaces `status`: it is a failure if a result was not
/// written, or if the system could not store it (which some file systems report only on close).
int close_output(int status);
/// Writes text such as "error: ...", made visible. On a terminal lines are wrapped at words.
void write_error(std::string_view text);

/// Whether standard output is a terminal that can move its cursor.
bool output_is_terminal();
bool error_is_terminal();
/// The columns of the terminal's window: COLUMNS if it is a number, otherwise what the terminal reports, otherwise 80.
/// Nothing if standard output is not a terminal.
std::optional<size_t> output_columns();

/// The value of COLUMNS; nothing if it is not set (null) or empty. invalid_argument if it is not a whole number of at
/// least 1; it is then ignored.
expected<std::optional<size_t>> parse_columns(const char* setting);

}  // namespace troupe::cli
