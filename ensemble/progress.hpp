// How far an iteration has come, and when training ends. Pure functions.
//
// A tick is one batch, for all specs. A spec makes one step of its own in each tick, until it stops. The global step is
// what users count: a combination of the own steps of all subnetworks.
#pragma once

#include <troupe/search/options.hpp>

#include <functional>
#include <vector>

namespace troupe {

// -- options ---------------------------------------------------------------------------

struct search_limits {
  /// The most steps of a spec in one iteration; absent: iterations do not end by steps.
  std::optional<int64_t> max_iteration_steps = {};
  std::optional<int64_t> max_iterations = {};
  /// Global steps in addition to those of the newest checkpoint.
  std::optional<int64_t> steps = {};
  /// The global step at which training ends. Neither: it ends with the iterations or with the data, or is stopped.
  std::optional<int64_t> max_steps = {};
  step_combiner combine = {};
};
/// The most ticks, steps and global steps. Above it doubles are not all whole numbers; sums of some stay in 64 bits.
inline constexpr int64_t ticks_max = int64_t{1} << 53;
/// Error: invalid_argument for a number below 1 or above `ticks_max`, or for both steps and max_steps.
expected<void> validate(const search_limits& limits);
/// The lesser of two limits; absent: no limit.
std::optional<int64_t> lesser(const std::optional<int64_t>& a, const std::optional<int64_t>& b);
/// The global step at which training ends if it begins at `global_step`; absent: at no step.
std::optional<int64_t> goal_of(const search_limits& limits, int64_t global_step);

// -- specs -----------------------------------------------------------------------------

enum class stop_cause : uint8_t {
  complete,          ///< It has made max_iteration_steps steps, or the steps that its builder wants.
  already_complete,  ///< The same when an attempt began, because the limit is now lower than the steps made.
  hook,              ///< A hook of its own asked for it.
  end_of_input,      ///< Its own input ended.
  dropped,           ///< Its numbers were not finite: it has left.
};
std::string_view to_string(stop_cause cause) noexcept;  ///< "end_of_input"

/// The end of a spec in its iteration. It stays stopped if the limits are raised later.
struct spec_stop {
  stop_cause cause = stop_cause::complete;
  int64_t step = 0;         ///< Own steps made.
  std::string detail = {};  ///< The cause in words; empty if there is nothing to add.
  /// dropped: that at which it had stopped before, or was to stop. Its own cause is never `dropped`.
  struct other {
    stop_cause cause = stop_cause::complete;
    int64_t step = 0;
    std::string detail = {};
    friend bool operator==(const other&, const other&) = default;
  };
  std::optional<other> otherwise = {};
  friend bool operator==(const spec_stop&, const spec_stop&) = default;
};
/// "completed 100 steps", "the end of its input after 7 steps: ..."
std::string to_text(const spec_stop& stop);

/// A spec in its iteration, at a state.
struct spec_progress {
  int64_t step = 0;                    ///< Own steps made.
  std::optional<int64_t> limit = {};   ///< Own steps at which it is complete.
  std::optional<spec_stop> stop = {};  ///< Known end; may lie ahead.
  /// What stops it at the limit, if it stops there by itself.
  stop_cause at_limit = stop_cause::complete;
};
/// The own step at which it stops, as far as it is known; a dropped one as if it had gone on. When an iteration ends
/// thus does not depend on a drop, which is heard at a time that depends on the schedule.
std::optional<int64_t> last_step(const spec_progress& x);

// -- iterations ------------------------------------------------------------------------

/// An iteration, at a state. Specs that have not stopped have made as many steps as the iteration has ticks.
struct iteration_progress {
  int64_t begins_at = 0;  ///< The tick at which the iteration began.
  int64_t base_step = 0;  ///< The global step at which it began.
  std::vector<spec_progress> subnetworks = {};
};
/// The tick at which every subnetwork has stopped; absent: some never stop. Ensembles are not waited for.
std::optional<int64_t> over_at(const iteration_progress& x);
/// The own step of a spec at a tick, by `last_step`: what the global step counts.
int64_t step_at(const spec_progress& x, int64_t begins_at, int64_t tick);
/// The own steps that it has made at a tick: a dropped one makes none after its drop.
int64_t made_at(const spec_progress& x, int64_t begins_at, int64_t tick);
/// The global step at a tick. Error: `state` if the combiner throws or returns no number from 0 to 2^53.
expected<int64_t> global_step_at(const iteration_progress& x, int64_t tick, const step_combiner& combine);
/// The first tick, from `from` on, at which the global step is at least `goal`, if it is before the end of the
/// iteration or at it. The combiner is called for few ticks. Errors: those above; `state` if the global step falls.
expected<std::optional<int64_t>> reaches(const iteration_progress& x, int64_t from, int64_t goal,
                                         const step_combiner& combine);
struct reached_state {
  int64_t tick = 0, global_step = 0;
};
/// Error: `state` if the global step has fallen, naming both values with their ticks.
expected<void> check_rise(const reached_state& earlier, const reached_state& later);

// -- the end ---------------------------------------------------------------------------

/// What follows the last commit of a stretch of training.
enum class next_phase : uint8_t {
  max_steps,       ///< Training ends at its goal. The iteration stays open, even if it is complete.
  open,            ///< Training ends with the input, or was stopped. The iteration stays open.
  max_iterations,  ///< Training ends with the last iteration, which stays open.
  choose,          ///< A winner is chosen, and the next iteration begins.
};
struct stretch_end {
  int64_t iteration = 0;
  int64_t global_step = 0;
  bool is_over = false;      ///< Every subnetwork has stopped.
  bool was_stopped = false;  ///< By a request: nothing is chosen even if the iteration is over.
};
next_phase phase_after(const search_limits& limits, std::optional<int64_t> goal, const stretch_end& end);

}  // namespace troupe
