// A state that evaluators are shown without a save, from its mark until all evaluators have finished with it. Plain
// data.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace troupe {

/// One state at a time, because nothing runs past it. Evaluators that are busy with something else are waited for.
class shown_state {
 public:
  void place(int64_t step, std::set<size_t> evaluations) { *this = shown_state{step, std::move(evaluations)}; }
  std::optional<int64_t> step() const noexcept { return step_; }
  bool waits_for(size_t evaluation) const { return busy_.contains(evaluation); }
  /// Stops waiting for the evaluation: it now takes part, or will not. Returns false if it was not waited for.
  bool wait_no_more_for(size_t evaluation) { return busy_.erase(evaluation) > 0; }
  bool waits() const noexcept { return !busy_.empty(); }
  /// Sends the state to the evaluations that take part. Returns false if it was sent before.
  bool send() { return !std::exchange(sent_, true); }
  /// The evaluators have received the state.
  void arrived(int64_t step) { arrived_ = arrived_ || step == step_; }
  bool has_arrived() const noexcept { return arrived_; }
  bool is_on_way() const noexcept { return step_ && sent_ && !arrived_; }
  void done() { *this = {}; }

  shown_state() = default;

 private:
  shown_state(int64_t step, std::set<size_t> evaluations) : step_(step), busy_(std::move(evaluations)) {}

  std::optional<int64_t> step_;
  std::set<size_t> busy_;
  bool sent_ = false, arrived_ = false;
};

}  // namespace troupe
