// Faults for tests. A build of the actors with TROUPE_PLANTED_FAULTS has all of these, and one of them is chosen before a job starts;
// docs/simulation.md says how each is found. Other builds have none: there `planted` is false when it is compiled.
#pragma once

#include <cstdint>
#include <string_view>

#ifdef TROUPE_PLANTED_FAULTS
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#endif

namespace troupe {

enum class planted_fault : uint8_t {
  none,
  lost_halted,           ///< A replica does not answer `halt`.
  old_block_accepted,    ///< A replica takes blocks of other attempts.
  old_block_kept,        ///< A replica keeps the blocks that it holds when another attempt begins.
  old_positions,         ///< An infeed begins at the position that it sent last, and not at that of the commit.
  budget_never_reset,    ///< A commit does not renew the budget of attempts.
  late_news_ignored,     ///< The chief ignores a failure of a step that it hears of after another one.
  credit_granted_twice,  ///< Credit of the attempt before counts in the next one, which gets its own.
  part_skipped,          ///< One variable is not restored.
  timer_survives,        ///< The timer of a back-off goes on in the attempt that it has begun.
  engine_handed_on,      ///< A replica in the place of one that died gets its engine.
  lease_forgotten,       ///< The lease of an evaluated checkpoint is never released.
  step_beyond_horizon,   ///< Infeeds and replicas make one step more than they were granted.
  gradient_ahead,        ///< A replica sends a gradient while it waits for the sum of the one before.
  saves_unbounded,       ///< The chief marks saves, however many are in progress.
  record_without_room,   ///< The outfeed sends records for which its summary writer has no room.
  event_forgotten,       ///< The chief does not ask its parts what follows from an answer of the hooks.
  zeros_after_fall,      ///< A group that falls with another is told that the other has left, and goes on with zeros.
  begin_before_connect,  ///< The chief connects nodes of a later attempt only after they have begun it.
  old_iteration_accepted,  ///< The checkpoint writer restores a commit of an iteration that wants another plan.
  planned_end_is_death,  ///< The chief takes the end of nodes whose iteration ends for their death.
  plan_of_before,        ///< An agent starts nodes of the plan that the one which it has prepared follows.
  growth_spends_budget,  ///< Growth counts as an attempt.
  ends,                  ///< Nodes end where the environment says (`ends_here`).
};

#ifdef TROUPE_PLANTED_FAULTS

inline planted_fault chosen_fault = std::getenv("TROUPE_PLANTED_ENDS") ? planted_fault::ends : planted_fault::none;

inline bool planted(planted_fault f) { return chosen_fault == f; }

/// TROUPE_PLANTED_ENDS="replica/0@17 infeed/0@40 infeed/0.reads@90": true at each of these steps, once in a process.
inline bool ends_here(std::string_view what, int64_t step) {
  static std::mutex guard;
  static std::set<std::string> known;
  const auto place = std::string{what} + "@" + std::to_string(step);
  const auto* const text = std::getenv("TROUPE_PLANTED_ENDS");
  const std::lock_guard lock{guard};
  return text && (" " + std::string{text} + " ").find(" " + place + " ") != std::string::npos && known.insert(place).second;
}

#else

consteval bool planted(planted_fault) { return false; }
bool ends_here(std::string_view what, int64_t step);  // Defined nowhere: a use that is left would not be linked.

#endif

}  // namespace troupe
