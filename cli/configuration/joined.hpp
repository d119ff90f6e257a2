// Lists in sentences. fmt::join would do, were it not that GCC 12 sees an overflow inside it that is not there.
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
