// Where hooks are called: on the thread of the callbacks, or on one of the caller's choice, a task at a time.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

namespace troupe {

/// `call` from one thread at a time, `withdraw` from any.
class hook_turns {
 public:
  using task = std::function<void()>;
  using executor = std::function<void(task)>;

  /// Without `post`, calls happen at once, on the thread that asks.
  explicit hook_turns(executor post = {}, std::chrono::milliseconds patience = {}) : post_(std::move(post)), patience_(patience) {}

  /// Returns when `what` has returned. state: it threw, or `post` did. deadline_exceeded: `post` took the task and nobody began
  /// it within the patience; it never will be then. False: it was not called, nor will anything be: a call before this one was
  /// not begun in time, or `withdraw` came first.
  expected<bool> call(task what);
  /// Nothing is begun any more. What has begun is not interrupted.
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
