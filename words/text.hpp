// Helpers for the texts of errors and reports: lists, quotes, numbers, paths, times of day. cli/ may include only
// include/, and has its own.
#pragma once

#include <troupe/tensor.hpp>

#include <charconv>
#include <type_traits>

namespace troupe {

// -- lists -----------------------------------------------------------------------

/// The texts that `text_of` makes of the elements, with `between` between them: "a, b".
template <class List, class TextOf>
std::string joined(const List& list, std::string_view between, TextOf text_of) {
  std::string text;
  bool first = true;
  for (const auto& element : list)
    text.append(std::exchange(first, false) ? "" : between).append(text_of(element));
  return text;
}
/// As above, for texts or whole numbers.
template <class List>
std::string joined(const List& list, std::string_view between = ", ") {
  return joined(list, between, []<class T>(const T& element) {
    if constexpr (std::is_integral_v<T>)
      return std::to_string(element);
    else
      return std::string_view{element};
  });
}

/// "'x'"
std::string quoted(std::string_view text);
/// Replaces each control character by a question mark.
std::string printable(std::string_view text);

// -- numbers ---------------------------------------------------------------------

/// The shortest text that reads back as the same number.
template <class T>
std::string shortest_text(T number) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}
/// `number` with leading zeros, at least `digits` long: "00042" for 42 and 5. The number must not be negative.
std::string zero_padded(int64_t number, size_t digits);
/// "float32[2, 3]"
std::string type_text(dtype type, const shape& dims);
/// "2020-09-13 12:26:40 UTC", from seconds since the epoch; "unknown" for 0 and for invalid times.
std::string time_text(double wall_time);

// -- paths -----------------------------------------------------------------------

/// "/a" of "/a/b", "/" of "/a", "." of "a".
std::string parent_of(std::string_view path);
/// "b" of "/a/b" and of "b".
std::string file_name_of(std::string_view path);
/// File systems take names of up to 255 bytes, and ours have beginnings and endings of their own.
inline constexpr size_t file_name_bytes_max = 200;
/// Why `name` cannot be a part of a file's name; empty if it can. A NUL would end the name for the system, so that two
/// names meant one file.
std::string wrong_in_file_name(std::string_view name);

}  // namespace troupe
