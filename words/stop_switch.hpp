// A switch that frees calls which block, and can be set again for the next attempt.
#pragma once

#include <mutex>
#include <stop_token>

namespace troupe {

/// Any thread may make any call.
class stop_switch {
 public:
  /// The token of the attempt at hand.
  std::stop_token token() const {
    std::lock_guard lock{guard_};
    return source_.get_token();
  }
  /// Frees all calls with that token, and those that are made with it later.
  void request_stop() {
    auto source = [this] {
      std::lock_guard lock{guard_};
      return source_;
    }();
    source.request_stop();  // Outside the lock, as it calls what users have registered.
  }
  /// Begins an attempt: tokens taken before stay as they are.
  void renew() {
    std::lock_guard lock{guard_};
    source_ = {};
  }

 private:
  mutable std::mutex guard_;
  std::stop_source source_;
};

}  // namespace troupe
