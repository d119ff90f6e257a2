// Which calls a task of a cluster may make, and its duties while it trains, in their order, as in TensorFlow's
// Estimator. Pure functions.
#pragma once

#include <troupe/cluster.hpp>

namespace troupe {

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
/// The enumerator's name.
std::string_view to_string(duty d) noexcept;

/// Whether the task may call `train`. invalid_argument: it is a parameter server or an evaluator; `validate`.
expected<void> may_train(const cluster& c);
/// Whether the task may call `train_and_evaluate`. invalid_argument: its type is none of TensorFlow's, or "local"; a
/// second evaluator; `validate`.
expected<void> may_train_and_evaluate(const cluster& c);

/// The duties of a task that trains. A task that is not the chief has only those from `input` on. In a cluster with a
/// master and workers, the first worker has the step counter and the summaries in place of the master, so that
/// measuring does not slow the master. `bounded`: `steps` or `max_steps` is given. Errors: those of `may_train`, and
/// the two kinds of checkpoint triggers given at once.
expected<std::vector<duty>> duties_of(const cluster& c, const run_config& config, bool bounded);

}  // namespace troupe
