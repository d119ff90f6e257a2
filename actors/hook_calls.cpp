#include "actors/hook_calls.hpp"

#include "words/guarded.hpp"

#include <condition_variable>

namespace troupe {

/// One task, shared by the thread that requests it and the thread that runs it; either may release it last.
class hook_calls::pending_call {
 public:
  explicit pending_call(task what) : what_(std::move(what)) {}

  void run() {
    if (!leave(waiting, begun))
      return;  // The task was withdrawn, or the executor runs it a second time.
    auto result = guarded("a hook", what_);
    std::lock_guard lock{guard_};
    if (!result)
      result_ = fail(std::move(result.error()));
    now_ = done;
    changed_.notify_all();
  }
  /// Returns true if the task had not begun; it will never begin.
  bool withdraw() { return leave(waiting, withdrawn); }
  /// Returns false if the task has not begun in time.
  bool wait_until_begun(std::chrono::milliseconds patience) {
    std::unique_lock lock{guard_};
    return changed_.wait_for(lock, patience, [this] { return now_ != waiting; });
  }
  /// Waits without a deadline, as for a call on the callbacks' own thread: the chief's deadlines cover a hook that does
  /// not return.
  expected<bool> wait_until_done() {
    std::unique_lock lock{guard_};
    changed_.wait(lock, [this] { return now_ == done || now_ == withdrawn; });
    return now_ == done ? result_ : expected<bool>{false};
  }

 private:
  enum state { waiting, begun, done, withdrawn };

  bool leave(state from, state to) {
    std::lock_guard lock{guard_};
    if (now_ != from)
      return false;
    now_ = to;
    changed_.notify_all();
    return true;
  }

  std::mutex guard_;
  std::condition_variable changed_;
  state now_ = waiting;
  task what_;
  expected<bool> result_ = true;
};

expected<bool> hook_calls::call(task what) {
  auto next = std::make_shared<pending_call>(std::move(what));
  {
    std::lock_guard lock{guard_};
    if (gone_)
      return false;
    current_ = next;
  }
  if (!post_) {
    next->run();
    return next->wait_until_done();
  }
  const auto posted = guarded("the executor of the hooks", [&] { post_([next] { next->run(); }); });
  if (!posted && next->withdraw())
    return fail(posted.error());
  return wait_for(*next);
}

expected<bool> hook_calls::wait_for(pending_call& next) {
  if (next.wait_until_begun(patience_) || !next.withdraw())
    return next.wait_until_done();
  withdraw();
  return fail(errc::deadline_exceeded, "the executor of the hooks did not run a task within "
                                           + std::to_string(patience_.count()) + " ms; no hook is called any more");
}

void hook_calls::withdraw() {
  std::lock_guard lock{guard_};
  gone_ = true;
  if (current_)
    current_->withdraw();
}

}  // namespace troupe
