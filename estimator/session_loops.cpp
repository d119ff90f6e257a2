#include "estimator/session_loops.hpp"

#include <system_error>

namespace troupe {

session_loops::~session_loops() {
  for (auto& t : threads_)
    if (t.handle.joinable())
      t.handle.detach();
}

void session_loops::start(const session_loop& x) {
  auto ended = std::make_shared<std::atomic<bool>>(false);
  auto here = std::make_shared<coordinator::membership>(together_.enlist(x.name));
  // The thread shares the job: one that is left behind may still look at it.
  const auto work = [x, job = job_, together = together_, here, ended]() mutable {
    static_cast<void>(together.loop([&] { return x.f(job->progress()); }, {.every = x.every}));
    job.reset();
    ended->store(true);
    here->leave();
  };
  try {
    threads_.push_back({std::thread{work}, ended});
  } catch (const std::system_error& e) {
    static_cast<void>(together_.request_stop(
        error{errc::resource_exhausted, "no thread for the loop '" + x.name + "': " + e.what()}));
  }
}

void session_loops::begin(session_loop x) {
  const std::lock_guard lock{guard_};
  all_.push_back(std::move(x));
  start(all_.back());
}

void session_loops::begin_again() {
  const std::lock_guard lock{guard_};
  for (const auto& x : all_)
    start(x);
}

void session_loops::end(std::chrono::milliseconds grace, const std::function<void(const std::string&)>& log) {
  static_cast<void>(together_.request_stop());
  static_cast<void>(together_.join({.grace = grace, .ignore_live = true, .log = log}));
  std::vector<thread> all;
  {
    const std::lock_guard lock{guard_};
    all.swap(threads_);
  }
  for (auto& t : all)
    if (t.handle.joinable())
      t.ended->load() ? t.handle.join() : t.handle.detach();
}

}  // namespace troupe
