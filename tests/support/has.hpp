// Whether one text is part of another, in words that a failed assertion can show.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace troupe::test {

/// Is true if the part is in the text. An assertion that fails prints both.
struct part_of_text {
  std::string text, part;
  operator bool() const { return text.find(part) != std::string::npos; }
  friend std::ostream& operator<<(std::ostream& out, const part_of_text& x) {
    return out << (x ? "'" : "no '") << x.part << "' in '" << x.text << '\'';
  }
};

[[nodiscard]] inline part_of_text has(std::string_view text, std::string_view part) { return {std::string{text}, std::string{part}}; }

}  // namespace troupe::test
