// Threads for actors, created before the actors that run on them. If the system cannot create a thread, no actor exists
// yet.
//
// CAF creates threads inside constructors and launches. An exception there leaves an incomplete system, or an actor
// that is counted but never runs, so that CAF waits for its end forever. These threads wait until they get work or are
// destroyed.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <system_error>
#include <thread>

namespace troupe {

class actor_thread {
 public:
  /// With `processor` the thread runs on that one only, unless the system refuses (`refusal`). Errors:
  /// resource_exhausted if the system has no thread or no memory for one; deadline_exceeded if the thread does not
  /// begin within 30 s.
  static expected<actor_thread> start(std::optional<int32_t> processor = {});
  actor_thread(actor_thread&&) noexcept = default;
  actor_thread& operator=(actor_thread&&) = delete;
  /// Does not wait. The thread ends after its work, or at once if it has none.
  ~actor_thread();

  /// Why the system did not bind the thread to the processor that `start` was given; no error: it did, or none was.
  std::error_code refusal() const noexcept { return refusal_; }
  /// Gives the thread its work; called at most once.
  void run(std::function<void()> work);
  /// Waits until the work ends. The caller must have asked the work to end.
  void join() { thread_.join(); }

 private:
  actor_thread(std::promise<std::function<void()>> work, std::thread thread)
    : work_(std::move(work)), thread_(std::move(thread)) {}
  std::promise<std::function<void()>> work_;
  std::thread thread_;
  std::error_code refusal_;
  bool given_ = false;
};

}  // namespace troupe
