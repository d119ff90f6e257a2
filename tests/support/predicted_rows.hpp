// The rows of a simulated prediction.
#pragma once

#include "support/simulated_job.hpp"

namespace troupe::test {

/// The values, float32, of output number `output` in all rows until the end or an error, and the error.
inline std::pair<std::vector<float>, std::optional<error>> predicted_rows(simulated_prediction& p, size_t output) {
  std::vector<float> rows;
  for (;;) {
    auto next = p.next();
    if (!next)
      return {rows, next.error()};
    if (!*next)
      return {rows, std::nullopt};
    const auto values = (*next)->values.at(output).as<float>();
    rows.insert(rows.end(), values.begin(), values.end());
  }
}

}  // namespace troupe::test
