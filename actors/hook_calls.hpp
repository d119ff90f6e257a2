// Chooses the thread on which hooks are called: the callbacks' thread, or one of the host program's, one task at a
// time.
#pragma once

#include "actors/current_call.hpp"

#include <troupe/error.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

namespace troupe {

/// One thread at a time may use `call`; any thread may use `withdraw`.
class hook_calls {
 public:
  using task = std::function<void()>;
  using executor = std::function<void(task)>;

  /// Without `post`, `call` runs the task at once, on the calling thread.
  explicit hook_calls(executor post = {}, std::chrono::milliseconds patience = {})
    : post_(std::move(post)), patience_(patience) {}

  /// Returns when `what` has returned. Error `state`: `what` or `post` threw. Error deadline_exceeded: `post` took the
  /// task, but it was not begun within the patience and never will be. Returns false if `what` was not called, in which
  /// case later calls will not be made either: an earlier task was not begun in time, or `withdraw` came first.
  expected<bool> call(task what);
  /// No further task begins. A task that has begun is not interrupted.
  void withdraw();
  /// What of the user's code is being called, wherever that is.
  current_call under_way;

 private:
  class pending_call;
  expected<bool> wait_for(pending_call& next);

  executor post_;
  std::chrono::milliseconds patience_;
  std::mutex guard_;
  bool gone_ = false;
  std::shared_ptr<pending_call> current_;
};

}  // namespace troupe
