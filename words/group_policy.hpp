// The policies for one group of a job: what follows when it fails, and where it retires. Plain data.
#pragma once

#include "words/roles.hpp"

#include <optional>
#include <string>

namespace troupe {

/// When a group leaves, and the job goes on with the others; of everything else the job fails.
enum class leaves_on : uint8_t {
  never,
  numbers,            ///< A step of its own whose numbers are not finite.
  numbers_and_death,  ///< Also the death of one of its nodes, where no other attempt can cure it.
};

struct group_policy {
  group_id id{};
  std::string name;                        ///< Empty in a job with one group.
  leaves_on leaves = leaves_on::never;
  std::optional<int64_t> retires_at = {};  ///< From this state on, the group shows its outputs and applies nothing.
  friend bool operator==(const group_policy&, const group_policy&) = default;
};

}  // namespace troupe
