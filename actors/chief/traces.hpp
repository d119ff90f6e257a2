// The traces that hooks asked for, one at a time. Plain data.
#pragma once

#include <troupe/hook.hpp>

#include <optional>
#include <vector>

namespace troupe {

class traces {
 public:
  struct steps {
    int64_t first = 0, end = 0;
  };

  void set_needs(std::vector<trace_need> needs) { needs_ = std::move(needs); }

  /// Steps [from, until) are about to be granted. Returns the steps of a trace that begins among them: all nodes have
  /// to record their time from now on.
  std::optional<steps> open(int64_t from, int64_t until);
  /// Whether a trace is recorded, and complete at state `reached`, which is `end` if the job ends there.
  bool complete(int64_t reached, std::optional<int64_t> end) const;
  /// Recording has ended at state `reached`; what was recorded is to be collected. Returns the steps of the trace.
  steps close(int64_t reached);
  /// It was collected; or the attempt has failed, and what was recorded is no use.
  void forget() { now_.reset(), recorded_ = false; }
  bool recorded() const noexcept { return recorded_; }
  /// The horizon at `until` must not pass this state: a trace begins there that could not be recorded yet.
  int64_t limit(int64_t until) const;

 private:
  steps next(int64_t from) const;

  std::vector<trace_need> needs_;
  std::optional<steps> now_;  ///< The trace that is recorded or collected.
  bool recorded_ = false;     ///< It is being recorded.
};

}  // namespace troupe
