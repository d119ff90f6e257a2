#include "compute/program/thread_pool.hpp"

#include "compute/kernels/denormals.hpp"
#include "words/affinity.hpp"

#include <cassert>
#include <system_error>

#if defined(__x86_64__)
#  include <immintrin.h>
#endif

namespace troupe {
namespace {

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits until `there` is true of the value of x, which it returns: spins for `looks` rounds, then sleeps.
template <class Predicate>
uint32_t wait_until(const std::atomic<uint32_t>& x, int looks, Predicate there) {
  for (int i = 0; i < looks; ++i) {
    if (const uint32_t now = x.load(std::memory_order_acquire); there(now))
      return now;
    pause();
  }
  for (;;) {
    const uint32_t now = x.load(std::memory_order_acquire);
    if (there(now))
      return now;
    x.wait(now, std::memory_order_acquire);
  }
}

void tell(std::atomic<uint32_t>& x, uint32_t value) {
  x.store(value, std::memory_order_release);
  x.notify_one();
}

}  // namespace

// With fewer processors than threads, spinning only delays the thread that is waited for.
thread_pool::thread_pool(int threads, std::vector<int32_t> processors)
  : threads_(threads), looks_(static_cast<int>(std::thread::hardware_concurrency()) < threads ? 0 : 1000),
    processors_(std::move(processors)) {}

std::shared_ptr<thread_pool> thread_pool::of(int threads, std::vector<int32_t> processors) {
  return std::shared_ptr<thread_pool>{new thread_pool{threads, std::move(processors)}};
}

expected<std::shared_ptr<thread_pool>> thread_pool::start(int threads) {
  auto pool = of(threads);
  return pool->begin(threads).map([&] { return std::move(pool); });
}

expected<void> thread_pool::begin(int threads) {
  assert(threads <= threads_);
  for (int share = static_cast<int>(workers_.size()) + 1; share < threads; ++share) {
    auto begun = std::make_unique<worker>();
    try {
      begun->thread = std::thread{[this, w = begun.get(), share] { work(*w, share); }};
    } catch (const std::system_error& e) {
      return fail(errc::resource_exhausted, "intra_op_threads = " + std::to_string(threads)
                                                + ": the system gave no thread after " + std::to_string(share) + " ("
                                                + e.what() + ")");
    }
    if (!processors_.empty())  // A refusal only makes the threads share a processor.
      static_cast<void>(restrict_to(begun->thread, processors_));
    workers_.push_back(std::move(begun));
  }
  return {};
}

thread_pool::~thread_pool() {
  task_ = {};
  for (auto& w : workers_)
    tell(w->given, w->given.load(std::memory_order_relaxed) + 1);
  for (auto& w : workers_)
    w->thread.join();
}

/// True for whichever of the two takes the task first, the worker or the caller: that one computes the share.
bool thread_pool::take(worker& w, uint32_t number) {
  uint32_t before = number - 1;
  return w.taken.load(std::memory_order_relaxed) == before
         && w.taken.compare_exchange_strong(before, number, std::memory_order_acq_rel);
}

void thread_pool::run_task(task t, int shares) {
  task_ = t;
  const auto others = static_cast<size_t>(shares) - 1;
  for (size_t i = 0; i < others; ++i)
    tell(workers_[i]->given, workers_[i]->given.load(std::memory_order_relaxed) + 1);
  t.call(t.context, 0);
  const flush_denormals tiny_is_zero;  // As in the worker threads.
  for (size_t i = 0; i < others; ++i) {
    auto& w = *workers_[i];
    const auto number = w.given.load(std::memory_order_relaxed);
    if (w.done.load(std::memory_order_acquire) == number || !take(w, number))
      continue;
    t.call(t.context, static_cast<int>(i) + 1);
    w.done.store(number, std::memory_order_relaxed);
  }
  for (size_t i = 0; i < others; ++i) {
    const auto number = workers_[i]->given.load(std::memory_order_relaxed);
    wait_until(workers_[i]->done, looks_, [number](uint32_t now) { return now == number; });
  }
}

void thread_pool::work(worker& w, int share) {
  const flush_denormals tiny_is_zero;  // As in the calling thread.
  for (uint32_t seen = 0;;) {
    seen = wait_until(w.given, looks_, [seen](uint32_t now) { return now != seen; });
    if (!take(w, seen))
      continue;
    if (!task_.call)
      return;
    task_.call(task_.context, share);
    tell(w.done, seen);
  }
}

}  // namespace troupe
