#include "words/task_duties.hpp"

namespace troupe {

std::string_view to_string(task_kind k) noexcept {
  switch (k) {
    case task_kind::chief: return "chief";
    case task_kind::master: return "master";
    case task_kind::worker: return "worker";
    case task_kind::parameter_server: return "ps";
    case task_kind::evaluator: return "evaluator";
  }
  return "unknown";
}

expected<void> may_train(const task& t) {
  if (t.kind != task_kind::parameter_server && t.kind != task_kind::evaluator)
    return {};
  return fail(errc::invalid_argument, "train() cannot run in a task of the type '" + std::string{to_string(t.kind)}
                                          + "': use train_and_evaluate()");
}

std::vector<duty> duties_of(const task& t, const run_config& config, bool bounded) {
  const bool leads = t.kind == task_kind::chief || t.kind == task_kind::master;
  const bool measures = t.master_with_workers ? t.kind == task_kind::worker && t.index == 0 : leads;
  const auto trigger = resolve_checkpoint_trigger(config);
  const bool logs = config.log_step_count_steps.value_or(0) > 0;
  std::vector<duty> all;
  const auto add = [&all](duty d, bool wanted) {
    if (wanted)
      all.push_back(d);
  };
  add(duty::checkpoints, leads && trigger && trigger->enabled());
  add(duty::chief_hooks, leads);
  add(duty::step_counter, measures && logs);
  add(duty::summaries, measures && config.save_summary_steps > 0);
  add(duty::input, true);
  add(duty::user_hooks, true);
  add(duty::step_limit, bounded);
  add(duty::not_finite, true);
  add(duty::progress_log, logs);
  add(duty::training_hooks, true);
  return all;
}

}  // namespace troupe
