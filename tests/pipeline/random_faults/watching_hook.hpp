// A hook that records every call. It requests steps, holds facts, saves and stops as the recipe says, and throws when a
// trouble is due.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

#include <troupe/hook.hpp>

#include <functional>

namespace troupe::test::random_faults {

/// True: the recipe's hook holds facts of this kind.
bool holds(const recipe& r, job_event::kind what);

class watching_hook final : public hook {
 public:
  struct call {
    hook_place where = hook_place::begin;
    int64_t step = 0;
    job_event::kind what = job_event::kind::progress;  ///< For `on_event`.
    bool observed = false;                             ///< For `at`: the value that the model observes was there.
  };

  explicit watching_hook(const recipe& r) : recipe_(r) {}

  /// Called within every call, to let time pass.
  std::function<void()> working = [] {};

  void arm(const trouble& t) { armed_.push_back({t, 0}); }
  const std::vector<trouble>& happened() const { return happened_; }
  const std::vector<call>& calls() const { return calls_; }
  /// The steps that the hook requested in `begin`.
  const std::vector<need>& needs() const { return needs_; }
  /// The state of the held fact at which the hook stopped the job.
  const std::optional<int64_t>& stopped_on() const { return stopped_on_; }

  /// The name of the value that the model of a recipe observes.
  static constexpr const char* observed = "logit";
  std::string observed_value() const { return recipe_.groups ? std::string{"a/"} + observed : observed; }

  troupe::needs begin(int64_t step) override;
  void on_step(const step_facts& facts, job_control& job) override;
  void on_event(const job_event& event, job_control& job) override;
  void end(int64_t step) override;
  void on_abort(const error& cause) override;

 private:
  struct armed {
    trouble what;
    int64_t calls;
  };
  void noted(call c);

  const recipe& recipe_;
  int64_t start_ = 0;
  std::vector<need> needs_;
  std::vector<armed> armed_;
  std::vector<trouble> happened_;
  std::vector<call> calls_;
  std::optional<int64_t> stopped_on_;
};

}  // namespace troupe::test::random_faults
