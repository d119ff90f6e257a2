// Threads that share the kernel calls of a program: the caller computes the first share, then each share that no thread
// has begun, and waits for the others.
//
// Waking a thread costs far more than most calls, so an idle one spins for a few tens of microseconds before it sleeps.
// If a thread gets no processor, because another job has it, the caller computes its share.
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
  /// A pool of at most `threads` threads, the caller included; at least 1. None is started yet. The others run on
  /// `processors`, if the system lets them; empty: on those of the thread that calls `begin`.
  static std::shared_ptr<thread_pool> of(int threads, std::vector<int32_t> processors = {});
  /// The same, with all threads started. resource_exhausted as for `begin`.
  static expected<std::shared_ptr<thread_pool>> start(int threads);
  /// Starts threads until there are `threads`, the caller included. resource_exhausted if the system has no more to
  /// give.
  expected<void> begin(int threads);
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// The most threads that may compute, the caller included.
  int threads() const noexcept { return threads_; }

  /// Calls f(share) once for each share in [0, shares), at most as many as have been started, and returns when all are
  /// done. Allocates nothing.
  template <class F>
  void run(int shares, F&& f) {
    run_task({[](void* context, int share) { (*static_cast<std::remove_reference_t<F>*>(context))(share); }, &f},
             shares);
  }

 private:
  struct task {
    void (*call)(void* context, int share) = nullptr;
    void* context = nullptr;
  };
  /// A helper thread, on cache lines of its own. `given`, `taken` and `done` are numbers of tasks: the last one that it
  /// was given, that it or the caller took, and that was finished.
  struct alignas(64) worker {
    std::atomic<uint32_t> given{0}, taken{0};
    alignas(64) std::atomic<uint32_t> done{0};
    std::thread thread;
  };

  thread_pool(int threads, std::vector<int32_t> processors);
  void run_task(task t, int shares);
  void work(worker& w, int share);
  static bool take(worker& w, uint32_t number);

  task task_;
  const int threads_;
  const int looks_;  ///< How often a thread spins before it sleeps.
  const std::vector<int32_t> processors_;
  std::vector<std::unique_ptr<worker>> workers_;
};

}  // namespace troupe
