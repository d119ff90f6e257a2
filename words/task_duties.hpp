// What the task of a cluster does while it trains, and in which order, as in TensorFlow's Estimator. Pure functions of the task's role and of
// the configuration; launchers that run one task in each process place the actors of these duties by them.
#pragma once

#include <troupe/run_config.hpp>

#include <vector>

namespace troupe {

enum class task_kind : uint8_t { chief, master, worker, parameter_server, evaluator };
std::string_view to_string(task_kind k) noexcept;

struct task {
  task_kind kind = task_kind::chief;
  int32_t index = 0;
  bool master_with_workers = false;  ///< Its cluster has a master and workers.
};

/// In the order in which they see a step.
enum class duty : uint8_t {
  checkpoints,     ///< Saves of the chief.
  chief_hooks,     ///< Hooks of the model that the chief alone has.
  step_counter,    ///< Steps per second.
  summaries,
  input,           ///< The input is opened.
  user_hooks,
  step_limit,      ///< The end by steps or max_steps.
  not_finite,      ///< The loss is looked at.
  progress_log,    ///< The loss and the step are logged.
  training_hooks,  ///< Hooks of the model that every task has.
};

/// invalid_argument for a parameter server or an evaluator, which do not train.
expected<void> may_train(const task& t);

/// The duties of a task that trains. Without a chief's role a task has those from `input` on. Where a cluster has a master and workers, the
/// first worker has the step counter and the summaries in place of the master, so that measuring does not slow the master. `bounded`: steps
/// or max_steps are given.
std::vector<duty> duties_of(const task& t, const run_config& config, bool bounded);

}  // namespace troupe
