// The horizon: how far everyone may go, where the job ends, and which states are marked on the way. Plain data.
#pragma once

#include "actors/chief/gates.hpp"
#include "actors/chief/pace.hpp"
#include "messages/control.hpp"

namespace troupe {

/// What happens at regular distances.
struct horizon_options {
  bool checkpoints = true;
  std::optional<int64_t> save_steps;     ///< Where checkpoints are written.
  std::optional<int64_t> summary_steps;  ///< None: no summaries.
};

/// As far as `until`, with what is new on the way there.
struct grant {
  int64_t until = 0;
  std::vector<mark> marks;
};

/// `until` only grows, and a mark names only states that no grant before has passed.
class horizon {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  explicit horizon(horizon_options options = {}) : options_(options) {}

  void begin(int64_t step, std::optional<int64_t> end);
  int64_t reached() const noexcept { return reached_; }  ///< Reports below this state are in.
  int64_t until() const noexcept { return until_; }
  bool idle() const noexcept { return reached_ >= until_; }
  std::optional<int64_t> end() const noexcept { return end_; }  ///< As far as known.
  /// It was given, or is that of the data; not a request to stop.
  bool end_is_final() const noexcept { return final_; }
  const troupe::pace& pace() const noexcept { return pace_; }

  /// Reports up to `step` have come. False: that was known.
  bool reach(nanoseconds now, int64_t step, int64_t block_steps);
  /// The same where nobody measures.
  void reach(int64_t step) { reached_ = std::max(reached_, step); }
  void end_at(int64_t step, bool is_final) { end_ = step, final_ = is_final; }
  /// The data ended there: all have stopped at that state, or will.
  void cut_at(int64_t step, bool is_final);
  void granted(nanoseconds now, int64_t until);

  /// What others leave room for.
  struct room {
    int64_t limit = INT64_MAX;   ///< The first state that nobody may run past.
    size_t saves_on_way = 0;
    int64_t shown = INT64_MAX;   ///< How many states may still be marked to be shown to the hooks.
  };
  /// Beyond the reports by two blocks at least; by more where 0.2 s of steps are more. Not past the end, the limit, or a mark for which there
  /// is no room. Nothing new where its `until` is not above the horizon.
  grant next(const gates& closed, const room& there) const;
  /// What happens at `step`; 0: nothing.
  uint8_t marks_at(int64_t step, const gates& closed) const;
  /// The first multiple of save_steps after `step`; INT64_MAX: none.
  int64_t next_save(int64_t step) const;

 private:
  bool far_ahead(int64_t step, size_t saves) const;

  horizon_options options_;
  int64_t reached_ = 0, until_ = 0, block_steps_ = 1;
  std::optional<int64_t> end_;
  bool final_ = false;
  troupe::pace pace_;
};

}  // namespace troupe
