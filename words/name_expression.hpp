// Regular expressions over names of variables.
#pragma once

#include <troupe/error.hpp>

#include <regex>

namespace troupe {

class name_expression {
 public:
  /// Compiles `text` in ECMAScript's grammar. Otherwise invalid_argument with the text and what is wrong with it.
  static expected<name_expression> make(const std::string& text);
  /// Whether the expression matches at the beginning of `name`, as Python's `re.match` does. False if the search would
  /// take too long.
  bool matches(std::string_view name) const;

 private:
  explicit name_expression(std::regex compiled) : compiled_(std::move(compiled)) {}
  std::regex compiled_;
};

}  // namespace troupe
