// Planted faults for tests. A build of the actors with TROUPE_PLANTED_FAULTS contains them all, and a test chooses one
// before a job starts; docs/simulation.md says how each is found. In other builds `planted` is false at compile time.
#pragma once

#include <cstdint>
#include <string_view>

#ifdef TROUPE_PLANTED_FAULTS
#  include <cstdlib>
#  include <mutex>
#  include <set>
#  include <string>
#endif

namespace troupe {

enum class planted_fault : uint8_t {
  none,
  lost_halted,             ///< A replica does not answer `halt`.
  old_block_accepted,      ///< A replica accepts blocks of other attempts.
  old_block_kept,          ///< A replica keeps the blocks that it holds when another attempt begins.
  old_positions,           ///< An infeed begins at the position that it sent last, not at that of the commit.
  budget_never_reset,      ///< A commit does not renew the budget of attempts.
  late_news_ignored,       ///< The chief ignores a failure of a step that it learns of after another failure.
  credit_granted_twice,    ///< Credit of the previous attempt counts in the next one, in addition to its own.
  part_skipped,            ///< One variable is not restored.
  timer_survives,          ///< The timer of a back-off runs on in the attempt that follows it.
  engine_handed_on,        ///< A replica that replaces a dead one gets the engine of that one.
  lease_forgotten,         ///< The lease of an evaluated checkpoint is never released.
  step_beyond_horizon,     ///< Infeeds and replicas make one step more than was granted.
  gradient_ahead,          ///< A replica sends a gradient while it waits for the sum of the previous step.
  sum_as_arrived,          ///< The reducer adds gradients in the order in which they arrived.
  status_ignored,          ///< What keeps a step from being applied is ignored, except on replica 0.
  retired_alone,           ///< A replica of a retired group does not ask the others whether a step counts.
  loop_off_by_one,         ///< Loops of an attempt are counted from one step later than they began.
  state_reset_late,        ///< States that last a loop begin a step late.
  rows_of_another_shard,   ///< A shard reads the carried rows of the next one.
  carried_unapplied,       ///< A replica carries its states before it knows whether the step is applied.
  called_unapplied,        ///< A replica gives a step to host calls, and reports it, before it is applied.
  call_of_wrong_replica,   ///< A host call gets the rows of the replicas in another order.
  phase_without_wake,      ///< A replica does not wake those that sleep in a phase that is over.
  end_of_data_lost,        ///< An infeed does not tell the last of its readers that its data have ended.
  report_overtakes,        ///< The later half of a report of a replica is sent first.
  part_in_mid_step,        ///< A replica sends its part of a snapshot before it has applied the step.
  stop_lost_while_saving,  ///< The chief forgets a stop while a save is in progress.
  monitor_forgotten,       ///< The chief does not monitor the first of the nodes that an agent has started.
  rewound_too_far,         ///< At the end of the data, an infeed goes back by one step too many.
  saves_unbounded,         ///< The chief marks saves without a limit on those in progress.
  record_without_room,     ///< The outfeed sends records for which its summary writer has no room.
  event_forgotten,         ///< After an answer of the hooks, the chief does not ask its parts what to do.
  zeros_after_fall,        ///< A group that falls with another learns only that the other left, and reads zeros.
  begin_before_connect,    ///< The chief connects nodes of a later attempt only after they have begun it.
  old_iteration_accepted,  ///< The checkpoint writer restores a commit that wants another plan.
  planned_end_is_death,    ///< The chief takes the planned end of an iteration's nodes for their death.
  plan_of_before,          ///< An agent starts nodes of the previous plan instead of the prepared one.
  growth_spends_budget,    ///< Growth counts as a new attempt.
  ends,                    ///< Nodes end where the environment variable says (`ends_here`).
};

#ifdef TROUPE_PLANTED_FAULTS

inline planted_fault chosen_fault = std::getenv("TROUPE_PLANTED_ENDS") ? planted_fault::ends : planted_fault::none;

inline bool planted(planted_fault f) { return chosen_fault == f; }

/// True at each step that the environment variable lists, once in a process. Example: TROUPE_PLANTED_ENDS="replica/0@17
/// infeed/0@40 infeed/0.reads@90".
inline bool ends_here(std::string_view what, int64_t step) {
  static std::mutex guard;
  static std::set<std::string> known;
  const auto place = std::string{what} + "@" + std::to_string(step);
  const auto* const text = std::getenv("TROUPE_PLANTED_ENDS");
  std::string all{" "};
  all.append(text ? text : "").append(" ");
  const std::lock_guard lock{guard};
  return all.find(" " + place + " ") != std::string::npos && known.insert(place).second;
}

#else

consteval bool planted(planted_fault) { return false; }
bool ends_here(std::string_view what, int64_t step);  // Never defined: a call that is not compiled out fails to link.

#endif

}  // namespace troupe
