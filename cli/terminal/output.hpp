// Standard output and standard error: either may be closed at any moment, and their disk may be full.
#pragma once

#include <troupe/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::cli {

/// Occupies descriptors 0 to 2 that the parent left closed: otherwise the first file that is opened, perhaps a
/// checkpoint, would receive the output. Must precede any open. Writing to them still fails, as if they were closed.
void occupy_standard_descriptors();

/// `text` with each character that controls a terminal, but for ends of lines and tabs, and each byte that is no UTF-8 as "\x1b" and the like: names of
/// files and what files hold may have any. What is visible stays as it is, and so does what this returns.
std::string visible(std::string_view text);

/// Writes all of the text at once; false if that failed. A pipe without a reader is ignored, as in any program before
/// `head`; any other failure is an error, reported on standard error once. Any thread.
bool write_output(std::string_view text);
/// The same for people: all of it is visible.
bool write_text(std::string_view text);
/// The same for programs, which get it as it is; on a terminal all of it is visible.
bool write_data(std::string_view text);
/// The last call: returns the exit status in place of `status`. A result that was not written, or that the system could
/// not store (which some file systems report only on close), is a failure.
int close_output(int status);
/// Writes "error: ..." and the like, visibly. On a terminal lines are wrapped at words.
void write_error(std::string_view text);

/// Whether standard output is a terminal that can move its cursor.
bool output_is_terminal();
bool error_is_terminal();
/// The columns of the terminal's window: COLUMNS if it is a number, else what the terminal says, else 80. Nothing if
/// standard output is no terminal.
std::optional<size_t> output_columns();

/// The value of COLUMNS; nothing if it is not set (null) or empty. invalid_argument: it is no whole number of at least
/// 1, and is ignored.
expected<std::optional<size_t>> parse_columns(const char* setting);

}  // namespace troupe::cli
