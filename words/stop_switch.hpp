// A switch that interrupts blocking calls, and can be set again for the next attempt.
#pragma once

#include <mutex>
#include <stop_token>

namespace troupe {

/// Thread-safe.
class stop_switch {
 public:
  /// The token of the current attempt.
  std::stop_token token() const {
    std::lock_guard lock{guard_};
    return source_.get_token();
  }
  /// Interrupts all calls that use the current token, now or later.
  void request_stop() {
    auto source = [this] {
      std::lock_guard lock{guard_};
      return source_;
    }();
    source.request_stop();  // Outside the lock, because it runs callbacks that users have registered.
  }
  /// Begins an attempt with a new token; tokens taken before keep their state.
  void renew() {
    std::lock_guard lock{guard_};
    source_ = {};
  }

 private:
  mutable std::mutex guard_;
  std::stop_source source_;
};

}  // namespace troupe
