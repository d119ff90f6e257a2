// Threads for actors, made before what runs on them: where the system has no more to give, nothing has begun yet.
//
// CAF starts a thread inside of its constructors and launches, at places from which an exception leaves a system half made or an
// actor counted that never runs, so that its end is waited for, for ever. Ours wait for their work, or for its being taken back.
#pragma once

#include <troupe/error.hpp>

#include <functional>
#include <future>

namespace troupe {

class actor_thread {
 public:
  /// resource_exhausted where the system gives no thread, or no memory for one.
  static expected<actor_thread> start();
  actor_thread(actor_thread&&) noexcept = default;
  actor_thread& operator=(actor_thread&&) noexcept = default;
  /// Without work it ends.
  ~actor_thread() = default;

  /// The thread does it, and ends on its own; at most once. Nothing of it is waited for.
  void run(std::function<void()> work) { work_.set_value(std::move(work)); }

 private:
  explicit actor_thread(std::promise<std::function<void()>> work) : work_(std::move(work)) {}
  std::promise<std::function<void()>> work_;
};

}  // namespace troupe
