// A gate that lets a measured job make the next steps, and waits until they are done.
#pragma once

#include <troupe/hook.hpp>

#include <condition_variable>
#include <mutex>

namespace troupe::bench {

/// Has a gate after every `stride` steps.
class turnstile final : public hook {
 public:
  explicit turnstile(int64_t stride) : stride_(stride) {}
  needs begin(int64_t step) override { return {.steps = {{step + stride_, stride_, true}}}; }
  void on_step(const step_facts& facts, job_control&) override {
    std::unique_lock lock{guard_};
    reached_ = facts.step;
    changed_.notify_all();
    changed_.wait(lock, [&] { return allowed_ > facts.step; });
  }
  /// Lets the job make `steps` steps, rounded down to a multiple of `stride`, and waits for the last of them.
  void pass(int64_t steps) {
    std::unique_lock lock{guard_};
    const int64_t target = reached_ + steps / stride_ * stride_;
    allowed_ = target;
    changed_.notify_all();
    changed_.wait(lock, [&] { return reached_ >= target; });
  }
  void open() {
    std::lock_guard lock{guard_};
    allowed_ = INT64_MAX;
    changed_.notify_all();
  }

 private:
  const int64_t stride_;
  std::mutex guard_;
  std::condition_variable changed_;
  int64_t reached_ = 0, allowed_ = 0;
};

}  // namespace troupe::bench
