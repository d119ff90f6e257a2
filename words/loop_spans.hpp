// The loops of a job (`run_config::steps_per_loop`), as nodes know them. Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace troupe {

/// Loops of `steps` steps, the first of which begins at state `begins`. 0 steps: one loop without an end.
struct loop_span {
  int64_t begins = 0;
  int64_t steps = 0;

  /// Where the loop begins that has step `step` >= `begins`.
  int64_t begin_of(int64_t step) const { return steps > 0 ? step - (step - begins) % steps : begins; }
  bool begins_at(int64_t step) const { return begin_of(step) == step; }
  friend bool operator==(const loop_span&, const loop_span&) = default;
};

/// The loops of an attempt. Lengths may change where a loop begins.
class loop_spans {
 public:
  /// Forgets all others.
  void begin(loop_span first) { all_ = {first}; }
  /// From `next.begins` on, where a loop begins, loops have another length.
  void add(loop_span next) { all_.push_back(next); }
  /// The loops that state `step` is one of. Without any, one loop without an end.
  loop_span at(int64_t step) const;
  const loop_span& last() const { return all_.back(); }
  /// No state below `step` will be asked for.
  void forget(int64_t step);

 private:
  std::vector<loop_span> all_;  ///< By `begins`.
};

}  // namespace troupe
