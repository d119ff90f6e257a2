#include "storage/encodings/json_depth.hpp"

namespace troupe {

namespace {

/// Position after the string that begins at `at`, or the end of the text.
size_t end_of_string(std::string_view text, size_t at) noexcept {
  for (++at; at < text.size(); ++at) {
    at = text.find_first_of("\"\\", at);
    if (at == std::string_view::npos)
      return text.size();
    if (text[at] == '"')
      return at + 1;
    ++at;  // An escaped character ends nothing.
  }
  return text.size();
}

}  // namespace

std::optional<size_t> too_deep_at(std::string_view text, int depth_max) noexcept {
  int depth = 0;
  for (size_t at = text.find_first_of("\"[]{}"); at < text.size(); at = text.find_first_of("\"[]{}", at)) {
    if (text[at] == '"') {
      at = end_of_string(text, at);
      continue;
    }
    depth += text[at] == '[' || text[at] == '{' ? 1 : -1;
    if (depth > depth_max)
      return at;
    ++at;
  }
  return {};
}

std::string too_deep_text(size_t at) {
  return "nests deeper than " + std::to_string(json_depth_max) + " at byte " + std::to_string(at);
}

}  // namespace troupe
