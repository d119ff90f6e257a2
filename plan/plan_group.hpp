// A group of a plan: what follows when it fails, and where it retires. Plain data.
#pragma once

#include "words/roles.hpp"

#include <troupe/run_config.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The cause for which a group leaves while the job goes on with the others. Any other failure of the group fails the
/// job, and so does the loss of the last group.
enum class leaves_on : uint8_t {
  never,
  numbers,            ///< Values of one of its own steps are not finite.
  numbers_and_death,  ///< Also the death of one of its nodes, if no further attempt can cure it.
};

/// Where the summaries of a group go.
struct group_summaries {
  /// Below the model directory. Empty: the event file of the job, where tags begin with "<group>/".
  std::string directory = {};
  std::string scope = {};          ///< Is cut off the front of tags, with the '/' behind it.
  std::string own_steps_tag = {};  ///< Of the number of steps that the group has trained; empty: not recorded.
  bool written = true;             ///< False: only what the job records of its leader is written.
  friend bool operator==(const group_summaries&, const group_summaries&) = default;
};

struct plan_group {
  group_id id{};
  std::string name;  ///< Empty in a job with one group.
  leaves_on leaves = leaves_on::never;
  /// The groups whose outputs this group reads and cannot do without: it leaves at the step where the first of them
  /// does, whatever `leaves` says. In place of other groups that leave, it reads zeros.
  std::vector<group_id> falls_with = {};
  /// The state at which it begins to train, from which its programs, schedules and bias corrections count their steps.
  int64_t begins_at = 0;
  std::optional<int64_t> retires_at = {};  ///< From this state on it computes outputs but applies no updates.
  /// The state at which the data that it alone trains on end, if they do; it retires there at the latest.
  std::optional<int64_t> input_ends_at = {};
  not_finite on_not_finite = not_finite::fail;  ///< `stop` needs a job of one group, which ends before that step.
  /// The names of its variables of one element whose values at each save are told to the chief.
  std::vector<std::string> told_at_saves = {};
  group_summaries summaries = {};
  friend bool operator==(const plan_group&, const plan_group&) = default;
};

}  // namespace troupe
