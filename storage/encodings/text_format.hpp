// The text format of Protocol Buffers ("Text Format Language Specification", protobuf.dev), read as far as a message of strings and
// numbers needs it. The library's own parser needs the full runtime, whose loading takes as long as a fifth of a program's start.
#pragma once

#include <troupe/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One value of a field.
struct text_field {
  std::string name;
  std::string value;      ///< A string without its quotes and escapes; a number or a word as it is written, with its sign.
  bool quoted = false;    ///< It is a string.
  int64_t line = 0, column = 0;  ///< Of its name, from 1.
};

/// The fields of the outermost message, in order; a list is a field for each of its values. Messages and extensions are skipped, whatever is
/// in them; they may nest `depth_max` deep. data_loss "line 2, column 7: what is wrong".
expected<std::vector<text_field>> parse_text_format(std::string_view text, int depth_max = 100);

/// A number in decimal, or inf or nan: what a field of type double takes. invalid_argument.
expected<double> text_format_double(const text_field& field);
/// The same number as text, in as few digits as give it back: 15, else 17.
std::string to_text_format(double x);

}  // namespace troupe
