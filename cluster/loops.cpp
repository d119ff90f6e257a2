#include "cluster/loops.hpp"

#include "words/text.hpp"

#include <algorithm>

namespace troupe {

expected<loop_length> parse_loop_length(std::string_view text) {
  constexpr int64_t secs_max = 100LL * 365 * 24 * 3600;
  std::string_view digits = text;
  int64_t unit_secs = 0;
  if (!text.empty()) {
    const char last = text.back();
    unit_secs = last == 's' ? 1 : last == 'm' ? 60 : last == 'h' ? 3600 : 0;
    digits.remove_suffix(unit_secs > 0 ? 1 : 0);
  }
  int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || number < 1
      || (unit_secs > 0 && number > secs_max / unit_secs))
    return fail(
        errc::invalid_argument,
        "steps_per_loop must be a whole number of at least 1, or a time such as 90s, 2m or 1h, not " + quoted(text));
  if (unit_secs > 0)
    return std::chrono::seconds{number * unit_secs};
  return number;
}

std::optional<loop_steps> loop_from(int64_t first, int64_t length, int64_t last) noexcept {
  if (first >= last)
    return {};
  return loop_steps{first, first + std::min(length, last - first)};
}

std::optional<loop_steps> loop_at(int64_t step, int64_t origin, int64_t length, int64_t last) noexcept {
  if (step >= last)
    return {};
  return loop_from(step - (step - origin) % length, length, last);
}

}  // namespace troupe
