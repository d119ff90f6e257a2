#include "estimator/session_loops.hpp"

#include "words/guarded.hpp"
#include "words/text.hpp"

#include <system_error>

namespace troupe {

/// How often a loop that has seen the end of the job looks again, if nobody closes the session.
static constexpr std::chrono::hours after_the_end{1};

session_loops::~session_loops() {
  for (auto& t : all_)
    if (t.handle.joinable())
      t.handle.detach();
}

void session_loops::start(const std::shared_ptr<loop_state>& loop) {
  // The thread shares the view: one that is left behind may still look at the job.
  const auto work = [loop, view = view_, together = together_]() mutable {
    const auto call = [&]() -> expected<void> {
      const loop_context now{*view};
      auto done = guarded("the loop " + quoted(loop->what.name), [&] { return loop->what.f(now); });
      if (done || !now.has_seen_end())
        return done;
      together.wait_for_stop(after_the_end);
      return {};
    };
    const auto is_left = [&] {
      const std::lock_guard lock{loop->guard};
      return loop->left_behind;
    };
    for (;;) {
      static_cast<void>(together.loop(call, {.every = loop->what.every, .until = is_left}));
      const std::lock_guard lock{loop->guard};
      if (!std::exchange(loop->again, false) || loop->left_behind) {
        view.reset();
        loop->ended = true;
        loop->here.reset();
        return;
      }
    }
  };
  const std::lock_guard lock{loop->guard};
  loop->ended = loop->again = false;
  loop->here = together_.enlist(loop->what.name);
  try {
    all_.push_back({std::thread{work}, loop});
  } catch (const std::system_error& e) {
    loop->here.reset();
    static_cast<void>(together_.request_stop(
        error{errc::resource_exhausted, "no thread for the loop " + quoted(loop->what.name) + ": " + e.what()}));
  }
}

void session_loops::begin(session_loop x) {
  if (!x.f)
    return static_cast<void>(
        together_.request_stop(error{errc::invalid_argument, "the loop " + quoted(x.name) + " has an empty function"}));
  auto loop = std::make_shared<loop_state>();
  loop->what = std::move(x);
  const std::lock_guard lock{guard_};
  start(loop);
}

void session_loops::begin_again() {
  const std::lock_guard lock{guard_};
  view_->end_loops(false);
  for (auto& t : std::exchange(all_, {})) {
    std::unique_lock is_at{t.of->guard};
    if (!t.of->ended) {
      t.of->again = true;
      t.of->here = together_.enlist(t.of->what.name);
      all_.push_back(std::move(t));
      continue;
    }
    is_at.unlock();
    t.handle.join();
    start(t.of);
  }
}

void session_loops::join(join_options how) {
  static_cast<void>(together_.request_stop());
  if (view_)
    view_->end_loops(true);
  how.ignore_live = true;
  static_cast<void>(together_.join(how));  // The caller knows the error.
}

void session_loops::interrupt(std::chrono::milliseconds grace, const log_lines& log) {
  join({.grace = grace, .begins_anew = true, .log = log});
}

void session_loops::end(std::chrono::milliseconds grace, const log_lines& log) {
  join({.grace = grace, .log = log});
  std::vector<thread> all;
  {
    const std::lock_guard lock{guard_};
    all.swap(all_);
  }
  for (auto& t : all) {
    std::unique_lock is_at{t.of->guard};
    t.of->left_behind = true;
    const bool ended = t.of->ended;
    is_at.unlock();
    ended ? t.handle.join() : t.handle.detach();
  }
}

}  // namespace troupe
