#include "pipeline/plan/job_description.hpp"

#include "input/streams/open_input.hpp"

namespace troupe {

bool writes_checkpoints(const job_description& job) {
  const auto trigger = resolve_checkpoint_trigger(job.config);
  return job.config.model_dir && trigger && trigger->enabled();
}

bool keeps_summaries(const job_description& job) {
  return job.config.model_dir && job.config.save_summary_steps > 0 && job.train_input;
}

bool keeps_eval_summaries(const job_description& job) {
  return job.config.model_dir && job.eval_input;
}

expected<planned_job> plan_of(const job_description& job) {
  planned_job planned;
  plan_options o{.hosts = job.hosts, .replicas = static_cast<int32_t>(job.config.replicas), .checkpoints = writes_checkpoints(job),
                 .summaries = keeps_summaries(job), .eval_summaries = keeps_eval_summaries(job), .hooks = !job.hooks.empty() || job.log != nullptr,
                 .program = job.source->name};
  const auto read = [&planned, &job](const std::optional<dataset>& input, std::optional<std::string>& into) -> expected<void> {
    if (!input)
      return {};
    auto text = text_of(*input);
    if (!text)
      return fail(text.error());
    into = std::move(*text);
    planned.resources.datasets.push_back(*input);
    planned.resources.models.push_back(job.source);
    return {};
  };
  for (const auto& [input, into] : {std::pair{&job.train_input, &o.dataset}, {&job.eval_input, &o.eval_dataset}, {&job.predict_input, &o.predict_dataset}})
    if (auto ok = read(*input, *into); !ok)
      return fail(ok.error());
  auto plan = make_plan(o);
  if (!plan)
    return fail(plan.error());
  planned.plan = std::move(*plan);
  return planned;
}

}  // namespace troupe
