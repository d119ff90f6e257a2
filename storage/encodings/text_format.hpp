// Parses the text format of Protocol Buffers ("Text Format Language Specification", protobuf.dev), as far as needed for
// a message of strings and numbers. The library's own parser needs the full runtime, which takes a fifth of a program's
// start time to load.
#pragma once

#include <troupe/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One value of a field.
struct text_field {
  std::string name;
  std::string value;             ///< A string without quotes and escapes; a number or a word as written, with its sign.
  bool quoted = false;           ///< Whether it was a string.
  int64_t line = 0, column = 0;  ///< Where the field's name begins, counted from 1.
};

/// The fields of the outermost message, in order. A list gives one field for each value. Nested messages and extensions
/// are skipped; they may nest `depth_max` deep. Error: data_loss "line 2, column 7: what is wrong".
expected<std::vector<text_field>> parse_text_format(std::string_view text, int depth_max = 100);

/// The value of a field of type double: a decimal number, inf or nan. Error: invalid_argument.
expected<double> text_format_double(const text_field& field);
/// `x` as text, with 15 digits if these give the same number, else 17.
std::string to_text_format(double x);

}  // namespace troupe
