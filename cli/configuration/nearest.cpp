#include "cli/configuration/nearest.hpp"

#include <algorithm>

namespace troupe::cli {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table, since a swap looks two rows back.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  size_t least = std::max<size_t>(2, name.size() / 4) + 1;
  for (const auto& k : known)
    if (const size_t distance = edit_distance(name, k); distance < least && distance < k.size()) {
      least = distance;
      best = k;
    }
  return best;
}

std::string did_you_mean(const std::optional<std::string>& name) {
  return name ? "; did you mean " + *name + "?" : std::string{};
}

}  // namespace troupe::cli
