// Texts in the columns of a terminal's window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

/// The columns that `text`, a single line, takes: one for each character of any script, also for those that terminals
/// show twice as wide. `visible` (output.hpp) comes before, since it changes the width.
size_t columns_of(std::string_view text);
/// Whether each line of `text` takes at most `width` columns. Allocates nothing.
bool fits_in(std::string_view text, size_t width);

/// `text`, or what fits of its beginning with "..." after it, in at most `width` columns.
std::string shortened(std::string_view text, size_t width);

/// `text` with each line that takes more than `width` columns broken at spaces. What follows is indented by two columns
/// more than the line. Lines that fit stay as they are. A word that is wider than `width` is not broken, so that a path
/// can still be copied. A number stays on the line of the word before it, "accuracy 0.86", where both fit.
std::string wrapped(std::string_view text, size_t width);

/// A part of a line that is shown whole or not at all.
struct text_field {
  int rank = 0;  ///< 0 is the most important.
  std::string text = {};
  std::string_view before = "  ";  ///< Stands between the field and the one before it: two columns.
};
/// The fields that take at most `room` columns in one line, in their order. Fields are left out from the greatest rank
/// down, the last of equal ranks first, until the others fit: a narrower window never shows a field that a wider one
/// leaves out. Empty fields are left out as well.
std::vector<text_field> fitting(const std::vector<text_field>& fields, size_t room);
/// The fields side by side.
std::string line_of(const std::vector<text_field>& fields);

}  // namespace troupe::cli
