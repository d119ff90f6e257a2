// Messages of an attempt that their receiver has not begun. Messages of one sender arrive in order, those of several
// senders do not: a node that has begun may send to one that has not yet received its own `begin`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <variant>

namespace troupe {

/// Keeps messages of types `Ms`, each with a member `attempt`, until the receiver begins their attempt. The credit that
/// senders have before the receiver has begun bounds their number (docs/actors.md). Only messages of the newest attempt
/// are kept, because all older attempts have ended.
template <class... Ms>
class early_messages {
 public:
  /// Keeps `x` and returns true if it is of a later attempt than `begun`; otherwise returns false.
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

  /// Calls `handle` for each message of attempt `begun`, in order of arrival, and discards those of older attempts.
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

/// Combines functions, each for one type, into one overloaded function.
template <class... Fs>
struct each_of : Fs... {
  using Fs::operator()...;
};

}  // namespace troupe
