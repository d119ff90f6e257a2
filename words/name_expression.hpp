// Regular expressions over names of variables.
#pragma once

#include <troupe/error.hpp>

#include <regex>

namespace troupe {

class name_expression {
 public:
  /// ECMAScript's grammar. invalid_argument with the text and what is wrong with it.
  static expected<name_expression> make(const std::string& text);
  /// Whether it matches from the beginning of the name on, as Python's `re.match` does. False where the search would take too long.
  bool matches(std::string_view name) const;

 private:
  explicit name_expression(std::regex compiled) : compiled_(std::move(compiled)) {}
  std::regex compiled_;
};

}  // namespace troupe
