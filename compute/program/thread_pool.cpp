#include "compute/program/thread_pool.hpp"

#include "compute/kernels/denormals.hpp"

#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace troupe {
namespace {

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Spins for `looks` rounds, then sleeps; returns the new value of `x`.
uint32_t wait_while(const std::atomic<uint32_t>& x, uint32_t value, int looks) {
  for (int i = 0; i < looks; ++i) {
    if (const uint32_t now = x.load(std::memory_order_acquire); now != value)
      return now;
    pause();
  }
  for (;;) {
    if (const uint32_t now = x.load(std::memory_order_acquire); now != value)
      return now;
    x.wait(value, std::memory_order_acquire);
  }
}

void tell(std::atomic<uint32_t>& x, uint32_t value) {
  x.store(value, std::memory_order_release);
  x.notify_one();
}

}  // namespace

expected<std::shared_ptr<thread_pool>> thread_pool::start(int threads) {
  // With fewer processors than threads, spinning only delays the thread that is waited for.
  const int looks = static_cast<int>(std::thread::hardware_concurrency()) < threads ? 0 : 1000;
  const std::shared_ptr<thread_pool> pool{new thread_pool{looks}};
  for (int share = 1; share < threads; ++share) {
    auto begun = std::make_unique<worker>();
    try {
      begun->thread = std::thread{[p = pool.get(), w = begun.get(), share] { p->work(*w, share); }};
    } catch (const std::system_error& e) {
      return fail(errc::resource_exhausted, "intra_op_threads = " + std::to_string(threads) + ": the system gave no thread after "
                                              + std::to_string(share) + " (" + e.what() + ")");
    }
    pool->workers_.push_back(std::move(begun));
  }
  return pool;
}

thread_pool::~thread_pool() {
  task_ = {};
  for (auto& w : workers_)
    tell(w->given, w->given.load(std::memory_order_relaxed) + 1);
  for (auto& w : workers_)
    w->thread.join();
}

void thread_pool::run_task(task t, int shares) {
  task_ = t;
  const auto others = static_cast<size_t>(shares) - 1;
  for (size_t i = 0; i < others; ++i)
    tell(workers_[i]->given, workers_[i]->given.load(std::memory_order_relaxed) + 1);
  t.call(t.context, 0);
  for (size_t i = 0; i < others; ++i) {
    const auto given = workers_[i]->given.load(std::memory_order_relaxed);
    wait_while(workers_[i]->done, given - 1, looks_);
  }
}

void thread_pool::work(worker& w, int share) {
  const flush_denormals tiny_is_zero;  // As in the calling thread.
  for (uint32_t seen = 0;;) {
    seen = wait_while(w.given, seen, looks_);
    if (!task_.call)
      return;
    task_.call(task_.context, share);
    tell(w.done, seen);
  }
}

}  // namespace troupe
