// Threads for actors, made before what runs on them: where the system has no more to give, nothing has begun yet.
//
// CAF starts a thread inside of its constructors and launches, at places from which an exception leaves a system half made or an
// actor counted that never runs, so that its end is waited for, for ever. Ours wait for their work, or for its being taken back.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

namespace troupe {

class actor_thread {
 public:
  /// resource_exhausted where the system gives no thread, or no memory for one.
  static expected<actor_thread> start();
  actor_thread(actor_thread&&) noexcept = default;
  actor_thread& operator=(actor_thread&&) = delete;
  /// Waits for nothing: the thread ends after its work, or now where it has none.
  ~actor_thread();

  /// What the thread does; at most once.
  void run(std::function<void()> work);
  /// Waits for the end of its work, which somebody has to have seen to.
  void join() { thread_.join(); }

 private:
  actor_thread(std::promise<std::function<void()>> work, std::thread thread) : work_(std::move(work)), thread_(std::move(thread)) {}
  std::promise<std::function<void()>> work_;
  std::thread thread_;
  bool given_ = false;
};

}  // namespace troupe
