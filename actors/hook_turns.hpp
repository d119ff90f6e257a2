// Chooses the thread on which hooks are called: that of the callbacks, or one of the caller's, a task at a time.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

namespace troupe {

/// `call` may be used by one thread at a time, `withdraw` by any.
class hook_turns {
 public:
  using task = std::function<void()>;
  using executor = std::function<void(task)>;

  /// Without `post`, calls happen at once, on the calling thread.
  explicit hook_turns(executor post = {}, std::chrono::milliseconds patience = {}) : post_(std::move(post)), patience_(patience) {}

  /// Returns when `what` has returned. Error `state`: it threw, or `post` did. deadline_exceeded: `post` took the task,
  /// which was not begun within the patience and never will be. False: `what` was not called, nor will later calls be:
  /// an earlier one was not begun in time, or `withdraw` came first.
  expected<bool> call(task what);
  /// No further task is begun. A task that has begun is not interrupted.
  void withdraw();

 private:
  class turn;
  expected<bool> wait_for(turn& next);

  executor post_;
  std::chrono::milliseconds patience_;
  std::mutex guard_;
  bool gone_ = false;
  std::shared_ptr<turn> current_;
};

}  // namespace troupe
