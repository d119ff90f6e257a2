// The loops of a job: where they begin, and how long they are. Plain data.
#pragma once

#include "messages/report.hpp"
#include "words/loop_estimator.hpp"
#include "words/loop_spans.hpp"

#include <troupe/hook.hpp>
#include <troupe/run_config.hpp>

#include <deque>
#include <optional>

namespace troupe {

/// A loop's length is fixed before the horizon passes its beginning. Where it is a number of steps, all are known;
/// where it is a time, each loop gets as many steps as the loops before it would have made in that time.
class loops {
 public:
  /// How many loops are fixed ahead of the state that was reached.
  static constexpr int64_t fixed_ahead_max = 64;

  explicit loops(loop_length length = 100) : length_(length) {}

  /// An attempt begins at `step`, in a job that first started at `first_step`. `stored`: the loops in the books of that
  /// state; absent in old ones. Returns the loops of `step`, of which one may have begun before.
  loop_span begin(int64_t step, int64_t first_step, std::optional<loop_span> stored);
  /// The loops that state `step` is one of.
  loop_span at(int64_t step) const { return spans_.at(step); }
  /// What the books of that state say of its loops; absent where they follow from `first_step` and the configuration.
  std::optional<loop_span> stored_at(int64_t step, int64_t first_step) const;
  /// Fixes all loops that begin below `until`. Returns the new ones.
  std::vector<loop_span> fix_below(int64_t until);
  /// The horizon must not pass this state, so that at most `fixed_ahead_max` loops are fixed that begin beyond state
  /// `reached`: each is a message.
  int64_t limit(int64_t reached);
  /// Where the `count`-th loop ends that ends after `step`, if no later one is shorter.
  int64_t end_after(int64_t step, int64_t count) const;
  /// No state below `step` will be asked for.
  void forget(int64_t step) { spans_.forget(step); }
  /// Whether lengths follow from the times that loops take.
  bool are_timed() const { return secs().has_value(); }
  /// A loop has ended. All of its states have been reached.
  void ended(const loop_point& x);

 private:
  std::optional<double> secs() const;
  loop_span next_at(int64_t step);

  loop_length length_;
  loop_spans spans_;
  std::deque<int64_t> fixed_;  ///< Where the loops begin that are fixed beyond the state that was reached.
  loop_estimator estimator_ = *loop_estimator::make();
};

/// What hooks are shown of a loop. `rows`: examples of a step; 0: not known.
loop_facts facts_of(const loop_point& x, int64_t rows, bool perplexity);

}  // namespace troupe
