#include "estimator/session_loops.hpp"

#include <system_error>

namespace troupe {

/// How often a loop that has seen the end of the job looks again, if nobody closes the session.
static constexpr std::chrono::hours after_the_end{1};

session_loops::~session_loops() {
  for (auto& t : threads_)
    if (t.handle.joinable())
      t.handle.detach();
}

void session_loops::start(const session_loop& x) {
  auto ended = std::make_shared<std::atomic<bool>>(false);
  auto here = std::make_shared<coordinator::membership>(together_.enlist(x.name));
  // The thread shares the view: one that is left behind may still look at the job.
  const auto work = [x, view = view_, together = together_, here, ended]() mutable {
    const auto call = [&]() -> expected<void> {
      const loop_context now{*view};
      auto done = x.f(now);
      if (done || !now.has_seen_end())
        return done;
      together.wait_for_stop(after_the_end);
      return {};
    };
    static_cast<void>(together.loop(call, {.every = x.every}));
    view.reset();
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
  view_->end_loops(false);
  for (const auto& x : all_)
    start(x);
}

void session_loops::end(std::chrono::milliseconds grace, const std::function<void(const std::string&)>& log) {
  static_cast<void>(together_.request_stop());
  if (view_)
    view_->end_loops(true);
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
