// Text in the columns of a terminal's window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

/// The columns that a single line takes: one for each character of any script, even for those that terminals show twice
/// as wide. Apply `visible` (output.hpp) before, since it changes the width.
size_t columns_of(std::string_view text);
/// Whether each line of `text` takes at most `width` columns. Allocates nothing.
bool fits_in(std::string_view text, size_t width);

/// `text`, or the part of its beginning that fits, followed by "...", in at most `width` columns.
std::string shortened(std::string_view text, size_t width);

/// `text` with each line of more than `width` columns broken at spaces. Continuation lines are indented by `more`
/// columns more than the line. Lines that fit stay as they are. A word that is wider than `width` is not broken, so
/// that a path can still be copied. A number stays with the word before it, as in "accuracy 0.86", if both fit in one
/// line.
std::string wrapped(std::string_view text, size_t width, size_t more = 2);

/// A part of a line that is shown completely or not at all.
struct text_field {
  int rank = 0;  ///< 0 is the most important.
  std::string text = {};
  std::string_view before = "  ";  ///< The text between this field and the one before it.
};
/// The fields that fit in one line of `room` columns, in their order. Fields with the greatest rank are left out first,
/// and among equal ranks the last one, until the others fit: a narrower window never shows a field that a wider one
/// leaves out. Empty fields are left out as well.
std::vector<text_field> fitting(const std::vector<text_field>& fields, size_t room);
/// The fields in one line, separated by their `before`.
std::string line_of(const std::vector<text_field>& fields);

}  // namespace troupe::cli
