// The duties of a task of a cluster while it trains, and their order, as in TensorFlow's Estimator. Pure functions of
// the task's role and of the configuration; launchers that run one task in each process use them to place actors.
#pragma once

#include <troupe/run_config.hpp>

#include <vector>

namespace troupe {

enum class task_kind : uint8_t { chief, master, worker, parameter_server, evaluator };
std::string_view to_string(task_kind k) noexcept;

struct task {
  task_kind kind = task_kind::chief;
  int32_t index = 0;
  bool master_with_workers = false;  ///< The cluster has a master and workers.
};

/// In the order in which they see a step.
enum class duty : uint8_t {
  checkpoints,   ///< The chief saves checkpoints.
  chief_hooks,   ///< Hooks of the model that only the chief has.
  step_counter,  ///< Steps per second.
  summaries,
  input,  ///< Opens the input.
  user_hooks,
  step_limit,      ///< Ends the job by `steps` or `max_steps`.
  not_finite,      ///< Checks the loss.
  progress_log,    ///< Logs the loss and the step.
  training_hooks,  ///< Hooks of the model that every task has.
};

/// invalid_argument for a parameter server or an evaluator, because these do not train.
expected<void> may_train(const task& t);

/// The duties of a task that trains. A task that is not the chief has only those from `input` on. In a cluster with a
/// master and workers, the first worker has the step counter and the summaries in place of the master, so that
/// measuring does not slow the master. `bounded`: `steps` or `max_steps` is given.
std::vector<duty> duties_of(const task& t, const run_config& config, bool bounded);

}  // namespace troupe
