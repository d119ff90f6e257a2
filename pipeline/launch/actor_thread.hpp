// Threads for actors, created before the actors that run on them: if the system has no more threads, nothing has begun.
//
// CAF creates threads inside of constructors and launches. An exception there leaves an incomplete system, or an actor
// that is counted and never runs, whose end CAF awaits for ever. These threads wait for their work or for its withdrawal.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

namespace troupe {

class actor_thread {
 public:
  /// resource_exhausted if the system gives no thread, or no memory for one; deadline_exceeded if it does not begin in 30 s.
  static expected<actor_thread> start();
  actor_thread(actor_thread&&) noexcept = default;
  actor_thread& operator=(actor_thread&&) = delete;
  /// Does not wait: the thread ends after its work, or now if it has none.
  ~actor_thread();

  /// Gives the thread its work; called at most once.
  void run(std::function<void()> work);
  /// Waits for the end of the work, which the caller must have requested.
  void join() { thread_.join(); }

 private:
  actor_thread(std::promise<std::function<void()>> work, std::thread thread) : work_(std::move(work)), thread_(std::move(thread)) {}
  std::promise<std::function<void()>> work_;
  std::thread thread_;
  bool given_ = false;
};

}  // namespace troupe
