// The policies for one group of a job: what follows when it fails, and where it retires. Plain data.
#pragma once

#include "words/roles.hpp"

#include <optional>
#include <string>

namespace troupe {

enum class group_failure : uint8_t {
  fail,   ///< The job fails.
  leave,  ///< The group leaves, and the job goes on with the others.
};

struct group_policy {
  group_id id{};
  std::string name;                        ///< Empty in a job with one group.
  group_failure on_failure = group_failure::fail;
  std::optional<int64_t> retires_at = {};  ///< From this state on, the group shows its outputs and applies nothing.
  friend bool operator==(const group_policy&, const group_policy&) = default;
};

}  // namespace troupe
