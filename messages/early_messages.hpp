// Messages of an attempt that their receiver has not begun. Messages of one sender arrive in order, those of several do not:
// who has heard `begin` sooner may send before the receiver hears its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <variant>

namespace troupe {

/// Keeps messages of types `Ms`, which have a member `attempt`, until the receiver begins their attempt. Their number is bounded
/// by the credit that their senders have before the receiver has begun (docs/actors.md). Only messages of the newest attempt
/// are kept: an older one has ended, or nobody had begun a newer one.
template <class... Ms>
class early_messages {
 public:
  /// Keeps a message of a later attempt than `begun` and returns true; otherwise false.
  template <class M>
  bool keep(int32_t begun, const M& x) {
    if (x.attempt <= begun)
      return false;
    if (x.attempt > attempt_)
      kept_.clear();
    if (x.attempt >= attempt_) {
      attempt_ = x.attempt;
      kept_.push_back(x);
    }
    return true;
  }

  /// Calls `handle` for each message of attempt `begun`, in the order in which they came, and forgets those of older attempts.
  template <class F>
  void hand_over(int32_t begun, F handle) {
    if (begun < attempt_)
      return;
    const bool wanted = begun == attempt_;
    for (const auto& x : std::exchange(kept_, {}))
      if (wanted)
        std::visit(handle, x);
  }

  size_t size() const noexcept { return kept_.size(); }

 private:
  int32_t attempt_ = 0;
  std::deque<std::variant<Ms...>> kept_;
};

/// A function of several types from one for each.
template <class... Fs>
struct each_of : Fs... {
  using Fs::operator()...;
};

}  // namespace troupe
