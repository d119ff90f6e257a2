// A group of a plan: what follows when it fails, and where it retires. Plain data.
#pragma once

#include "words/roles.hpp"

#include <troupe/run_config.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// When a group leaves, and the job goes on with the others; of everything else the job fails. The job also fails once no group is left.
enum class leaves_on : uint8_t {
  never,
  numbers,            ///< A step of its own whose numbers are not finite.
  numbers_and_death,  ///< Also the death of one of its nodes, where no other attempt can cure it.
};

struct plan_group {
  group_id id{};
  std::string name;                           ///< Empty in a job with one group.
  leaves_on leaves = leaves_on::never;
  /// Groups whose outputs it reads, and without any of which it is of no use: it leaves at the step where the first of them does, whatever `leaves`
  /// says. Of other groups that leave it reads zeros.
  std::vector<group_id> falls_with = {};
  std::optional<int64_t> retires_at = {};     ///< From this state on it shows its outputs and applies nothing.
  not_finite on_not_finite = not_finite::fail;  ///< stop: only in a job of one group, which ends before that step.
  friend bool operator==(const plan_group&, const plan_group&) = default;
};

}  // namespace troupe
