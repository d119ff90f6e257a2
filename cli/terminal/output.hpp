// Standard output and standard error, where either may be closed at any moment, and the disk behind it full.
#pragma once

#include <cstddef>
#include <string_view>

namespace troupe::cli {

/// Opens something on descriptors 0 to 2 that the parent left closed: otherwise the first file that is opened, a
/// checkpoint perhaps, would be what is printed to. Before anything else is opened. Writing there still fails, as if it were closed.
void occupy_standard_descriptors();

/// All of it, at once; false where it was not taken. A pipe whose reader has gone away is silent, as for any program before `head`;
/// any other failure is an error, which standard error is told of, once. Any thread.
bool write_output(std::string_view text);
/// The last call: what the program returns in place of `status`. A result that was not written, or that the system could not keep
/// (which some file systems tell only when the file is closed), is no success.
int close_output(int status);
/// "error: ..." and the like.
void write_error(std::string_view text);

/// Whether standard output is a terminal that can move its cursor.
bool output_is_terminal();
/// Its columns; 80 where it does not say.
size_t terminal_width();

}  // namespace troupe::cli
