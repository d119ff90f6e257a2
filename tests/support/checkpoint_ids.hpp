// Makes checkpoint ids, outside of a search, from plain steps.
#pragma once

#include <troupe/checkpoint_id.hpp>

#include <vector>

namespace troupe {

inline std::vector<checkpoint_id> ids(const std::vector<int64_t>& steps) {
  std::vector<checkpoint_id> all;
  for (const int64_t step : steps)
    all.push_back({step});
  return all;
}

}  // namespace troupe
