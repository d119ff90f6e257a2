// Joins the elements of a list in a sentence. Replaces fmt::join, for which GCC 12 reports an overflow that does not
// exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

inline std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const auto& part : parts)
    text.append(text.empty() ? "" : between).append(part);
  return text;
}

}  // namespace troupe::cli
