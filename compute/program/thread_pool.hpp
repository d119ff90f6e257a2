// Threads that share the kernel calls of a program: the caller computes the first share and waits for the others.
//
// Waking a thread costs far more than most calls, so an idle one spins for a few tens of microseconds before it sleeps.
// Shares are finite loops over memory; the wait for them has no deadline.
#pragma once

#include <troupe/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace troupe {

/// Used by one thread at a time, not necessarily always the same one.
class thread_pool {
 public:
  /// `threads`, at least 1, includes the caller. resource_exhausted where the system has no more threads to give.
  static expected<std::shared_ptr<thread_pool>> start(int threads);
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Calls f(share) once for each share in [0, shares), at most as many as there are threads, and returns when all are
  /// done. Allocates nothing.
  template <class F>
  void run(int shares, F&& f) {
    run_task({[](void* context, int share) { (*static_cast<std::remove_reference_t<F>*>(context))(share); }, &f}, shares);
  }

 private:
  struct task {
    void (*call)(void* context, int share) = nullptr;
    void* context = nullptr;
  };
  /// On cache lines of its own: the numbers of the last task given and the last one done.
  struct alignas(64) worker {
    std::atomic<uint32_t> given{0};
    alignas(64) std::atomic<uint32_t> done{0};
    std::thread thread;
  };

  explicit thread_pool(int looks) : looks_(looks) {}
  void run_task(task t, int shares);
  void work(worker& w, int share);

  task task_;
  const int looks_;           ///< How often a thread spins before it sleeps.
  std::vector<std::unique_ptr<worker>> workers_;
};

}  // namespace troupe
