// Checks that one text contains another, such that a failed assertion shows both.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace troupe::test {

/// Converts to true if `text` contains `part`. A failed assertion prints both.
struct part_of_text {
  std::string text, part;
  operator bool() const { return text.find(part) != std::string::npos; }
  friend std::ostream& operator<<(std::ostream& out, const part_of_text& x) {
    return out << (x ? "'" : "no '") << x.part << "' in '" << x.text << '\'';
  }
};

[[nodiscard]] inline part_of_text has(std::string_view text, std::string_view part) {
  return {std::string{text}, std::string{part}};
}

}  // namespace troupe::test
