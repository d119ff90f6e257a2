// The single timer of an actor that waits: one entry in the clock while a wait is armed, otherwise none.
#pragma once

#include "actors/waits.hpp"
#include "messages/control.hpp"

#include <caf/actor_clock.hpp>

#include <optional>
#include <utility>

namespace troupe {

/// Connects `waits` to an actor that accepts `deadline`: number 0 is the end of a timer period; other numbers name a
/// wait that is over, once the mailbox has been handled. `Kind` is an enum whose values are consecutive from 0.
template <class Self, class Kind>
class wait_timer {
 public:
  void start(Self self, waits all) {
    self_ = self;
    all_ = std::move(all);
  }

  void arm(Kind kind, std::chrono::nanoseconds patience, bool in_pause = false) {
    if (!ticking_)
      looked_ = self_->clock().now();
    all_.arm(static_cast<int32_t>(kind), patience, in_pause);
    tick();
  }
  /// Stops the time of all waits until `thaw`, except those that run in a pause.
  void freeze() { frozen_ = true; }
  void thaw() {
    if (!std::exchange(frozen_, false))
      return;
    looked_ = self_->clock().now();
    tick();
  }
  void disarm(Kind kind) { all_.disarm(static_cast<int32_t>(kind)); }
  void disarm_all() { all_.disarm_all(); }
  bool armed(Kind kind) const { return all_.armed(static_cast<int32_t>(kind)); }

  /// The kind of the wait that has run out, if any.
  std::optional<Kind> on(const deadline& x) {
    if (x.number != 0)
      return all_.expires(x.what, x.number) ? std::optional{static_cast<Kind>(x.what)} : std::nullopt;
    ticking_ = false;
    const auto now = self_->clock().now();
    // Sent through the mailbox, so that messages that have already arrived are handled first.
    for (const auto& due : all_.pass(now - looked_, frozen_))
      self_->send(self_, deadline{due.number, due.kind});
    looked_ = now;
    tick();
    return {};
  }

 private:
  void tick() {
    if (ticking_ || !all_.any(frozen_))
      return;
    ticking_ = true;
    self_->delayed_send(self_, all_.period(), deadline{});
  }

  Self self_ = nullptr;
  waits all_;
  bool frozen_ = false;
  bool ticking_ = false;  ///< The next tick is scheduled; there is never a second one.
  caf::actor_clock::time_point looked_{};
};

}  // namespace troupe
