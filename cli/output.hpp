// Standard output and standard error, where either may be closed at any moment.
#pragma once

#include <cstddef>
#include <string_view>

namespace troupe::cli {

/// Opens something on descriptors 0 to 2 that the parent left closed: otherwise the first file that is opened, a
/// checkpoint perhaps, would be what is printed to. Before anything else is opened.
void occupy_standard_descriptors();

/// All of it, at once; false once the reader is gone.
bool write_output(std::string_view text);
/// "error: ..." and the like.
void write_error(std::string_view text);

/// Whether standard output is a terminal that can move its cursor.
bool output_is_terminal();
/// Its columns; 80 where it does not say.
size_t terminal_width();

}  // namespace troupe::cli
