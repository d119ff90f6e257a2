#include "cluster/task_duties.hpp"

#include "words/text.hpp"

namespace troupe {

std::string_view to_string(duty d) noexcept {
  switch (d) {
    case duty::checkpoints: return "checkpoints";
    case duty::chief_hooks: return "chief_hooks";
    case duty::step_counter: return "step_counter";
    case duty::summaries: return "summaries";
    case duty::input: return "input";
    case duty::user_hooks: return "user_hooks";
    case duty::step_limit: return "step_limit";
    case duty::not_finite: return "not_finite";
    case duty::progress_log: return "progress_log";
    case duty::training_hooks: return "training_hooks";
  }
  return "unknown";
}

expected<void> may_train(const cluster& c) {
  return describe_task(c).and_then([&](const task_description& task) -> expected<void> {
    if (task.kind == task_kind::parameter_server || task.kind == task_kind::evaluator)
      return fail(errc::invalid_argument,
                  "train() cannot run in a task of the type '" + c.task.type + "': use train_and_evaluate()");
    return {};
  });
}

expected<void> may_train_and_evaluate(const cluster& c) {
  return describe_task(c).and_then([&](const task_description& task) -> expected<void> {
    if (task.kind == task_kind::other)
      return fail(errc::invalid_argument,
                  "train_and_evaluate() runs in tasks of the types chief, worker, master, evaluator and ps, not in one "
                  "of the type "
                      + quoted(c.task.type));
    if (task.kind == task_kind::evaluator && c.task.index > 0)
      return fail(errc::invalid_argument,
                  "a cluster has one evaluator: task.index must be 0 for it, not " + std::to_string(c.task.index));
    return {};
  });
}

expected<std::vector<duty>> duties_of(const cluster& c, const run_config& config, bool bounded) {
  if (auto right = may_train(c); !right)
    return fail(right.error());
  const auto task = describe_task(c, config);
  if (!task)
    return fail(task.error());
  const auto trigger = resolve_checkpoint_trigger(config);
  if (!trigger)
    return fail(trigger.error());
  const bool beside_master = task->cluster_spec.contains("master") && task->num_worker_replicas > 1;
  const bool measures = beside_master ? task->kind == task_kind::worker && c.task.index == 0 : task->is_chief;
  const bool logs = config.log_step_count_steps.value_or(0) > 0;
  std::vector<duty> all;
  const auto add = [&all](duty d, bool wanted) {
    if (wanted)
      all.push_back(d);
  };
  add(duty::checkpoints, task->is_chief && trigger->enabled());
  add(duty::chief_hooks, task->is_chief);
  add(duty::step_counter, measures && logs);
  add(duty::summaries, measures && (config.save_summary_secs || config.save_summary_steps > 0));
  add(duty::input, true);
  add(duty::user_hooks, true);
  add(duty::step_limit, bounded);
  add(duty::not_finite, true);
  add(duty::progress_log, logs);
  add(duty::training_hooks, true);
  return all;
}

}  // namespace troupe
