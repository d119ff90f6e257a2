// Run hooks: hooks that take part in the runs of a session (session.hpp).
// Not needed to begin with.
//
//   struct watch_norm : tr::run_hook {
//     tr::run_arguments before_run(const tr::run_context&, tr::job_control&) override {
//       return {.fetches = {"gradient_norm"}};
//     }
//     void after_run(const tr::run_facts& run, tr::job_control& job) override {
//       if (run.values.at("gradient_norm").as<float>()[0] > 100) job.stop();
//     }
//   };
#pragma once

#include <troupe/hook.hpp>

namespace troupe {

/// What a run computes beside its steps, and with which data.
struct run_arguments {
  /// Values of the run's last step: "loss" and the other outputs of the model, values that it observes
  /// (`graph::observe`), and metrics of training (`run_config::train_metrics`), which are those of the newest progress.
  std::vector<std::string> fetches = {};
  /// Components of the input for every step of the run, as tensors [batch rows, dims...]. Only those that
  /// `session_options::feeds` names; each of these, by the caller or by one hook.
  std::map<std::string, tensor> feeds = {};
};

/// A run that is about to begin.
struct run_context {
  int64_t begins = 0;        ///< The state where it begins.
  int64_t until = 0;         ///< The state where it ends, unless the job ends before.
  run_arguments asked = {};  ///< What its caller wants of it.
};

/// A run that has been made.
struct run_facts {
  int64_t begins = 0;                         ///< The state where its steps began.
  int64_t step = 0;                           ///< The state where it has ended.
  std::map<std::string, tensor> values = {};  ///< What this hook has fetched.
};

/// A hook that is asked before each run of a session and told after it, in the order of the list, on the thread of the
/// other calls. In a job that is no session these calls are not made.
///
/// A run that is made again after a recovery is asked for again; there is no `after_run` of the one that failed, nor of
/// one in which the data end. An exception fails the job as one of any other call does.
class TROUPE_API run_hook : public hook {
 public:
  ~run_hook() override;
  /// After `begin`, where the session begins at state `step`, and after each recovery.
  virtual void after_create(int64_t step);
  virtual run_arguments before_run(const run_context& run, job_control& job);
  virtual void after_run(const run_facts& run, job_control& job);
};

}  // namespace troupe
