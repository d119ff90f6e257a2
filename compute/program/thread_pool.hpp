// Threads that share the kernel calls of a program: whoever asks computes the first share and waits for the others.
//
// Waking a thread costs far more than most calls, so one without work looks out for some for a few tens of microseconds
// before it sleeps. Shares are finite loops over memory; they are waited for without a deadline.
#pragma once

#include <troupe/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace troupe {

/// One thread at a time asks; which one may change.
class thread_pool {
 public:
  /// `threads`, at least 1, counts the one that asks. resource_exhausted where the system has no more threads to give.
  static expected<std::shared_ptr<thread_pool>> start(int threads);
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// f(share) once for each share in [0, shares), at most as many as there are threads; all are done when it returns. Allocates nothing.
  template <class F>
  void run(int shares, F&& f) {
    run_task({[](void* context, int share) { (*static_cast<std::remove_reference_t<F>*>(context))(share); }, &f}, shares);
  }

 private:
  struct task {
    void (*call)(void* context, int share) = nullptr;
    void* context = nullptr;
  };
  /// Each on cache lines of its own: the numbers of the last task that was given and that is done.
  struct alignas(64) worker {
    std::atomic<uint32_t> given{0};
    alignas(64) std::atomic<uint32_t> done{0};
    std::thread thread;
  };

  explicit thread_pool(int looks) : looks_(looks) {}
  void run_task(task t, int shares);
  void work(worker& w, int share);

  task task_;
  const int looks_;           ///< How often a thread looks before it sleeps.
  std::vector<std::unique_ptr<worker>> workers_;
};

}  // namespace troupe
