// The horizon: how far all nodes may go, where the job ends, and which states are marked. Plain data.
#pragma once

#include "actors/chief/gates.hpp"
#include "actors/chief/pace.hpp"
#include "messages/control.hpp"
#include "plan/edge_kinds.hpp"

namespace troupe {

/// The regular intervals of marks.
struct horizon_options {
  bool checkpoints = true;
  std::optional<int64_t> save_steps;     ///< Steps between checkpoints; none: no saves by step.
  std::optional<int64_t> summary_steps;  ///< Steps between records; none: no summaries.
};

/// Whether a job is complete at its last state.
enum class job_end : uint8_t {
  finished,  ///< By its steps, the end of the data or a rule: there is nothing to continue.
  stopped,   ///< Before that; another job may continue from there.
};

/// Steps up to `until`, with the new marks.
struct grant {
  int64_t until = 0;
  std::vector<mark> marks;
};

/// `until` only grows, except when the data end or the horizon is cut. A mark names only states that no earlier grant
/// has passed.
class horizon {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  /// Limit on the saves whose parts infeeds and the chief send ahead of the reports.
  static constexpr size_t saves_max = saves_in_progress_max;
  /// Limit on the records that the outfeed keeps while the summary writer has no room.
  static constexpr int64_t records_max = 32;
  explicit horizon(horizon_options options = {}) : options_(options) {}

  void begin(int64_t step, std::optional<int64_t> end);
  int64_t began_at() const noexcept { return began_at_; }  ///< The state at which the attempt began.
  int64_t reached() const noexcept { return reached_; }    ///< Reports of all earlier steps have arrived.
  int64_t until() const noexcept { return until_; }
  bool idle() const noexcept { return reached_ >= until_; }
  std::optional<int64_t> end() const noexcept { return end_; }  ///< Absent while the end is unknown.
  /// Whether the job has finished at the end: by its number of steps or the end of the data, not by a stop.
  bool end_is_final() const noexcept { return final_; }
  const troupe::pace& pace() const noexcept { return pace_; }

  /// Reports up to state `step` have arrived. Returns false if that was known.
  bool reach(nanoseconds now, int64_t step, int64_t block_steps);
  /// As above, without measuring the pace.
  void reach(int64_t step) { reached_ = std::max(reached_, step); }
  /// As above, for one of `replicas` replicas, if no outfeed joins their reports.
  void reach_replica(node_id replica, int64_t step, int64_t replicas);
  void end_at(int64_t step, job_end how) { end_ = step, final_ = how == job_end::finished; }
  /// The data ended at `step`: all replicas have stopped at that state, or will.
  void cut_at(int64_t step, job_end how);
  /// Returns whether the job stood still, at the state that it had reached.
  bool granted(nanoseconds now, int64_t until);
  /// The next step that is granted is recorded.
  void record_next() { record_due_ = true; }

  /// Limits that other parts of the chief set.
  struct limits {
    int64_t limit = INT64_MAX;  ///< The first state that no node may pass.
    size_t saves_unreported = 0;
    int64_t shown = INT64_MAX;      ///< How many more watches may be marked.
    int64_t evaluated = INT64_MAX;  ///< The next state that evaluators are shown unless it is saved.
    int64_t fetched = INT64_MAX;    ///< The state whose values the caller of a session fetches,
    mark_kinds fetches = 0;         ///< by these marks.
  };
  /// The next grant: two blocks beyond the reports, or 0.2 s of steps if that is more, but not past the end, the limit,
  /// or a mark for which there is no room. An `until` that is not above the horizon means no grant.
  grant next(const gates& closed, const limits& there) const;
  /// The marks at state `step`, as flags of mark_kind; 0 if there are none.
  mark_kinds marks_at(int64_t step, const gates& closed) const;
  /// The first multiple of save_steps after `step`; INT64_MAX if there is none.
  int64_t next_save(int64_t step) const;

 private:
  bool far_ahead(int64_t step, size_t saves) const;

  horizon_options options_;
  int64_t began_at_ = 0, reached_ = 0, until_ = 0, block_steps_ = 1;
  std::optional<int64_t> end_;
  bool final_ = false, record_due_ = false;
  troupe::pace pace_;
  std::map<node_id, int64_t> replicas_;  ///< The state that each replica has reached.
};

}  // namespace troupe
