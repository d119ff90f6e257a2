#include "pipeline/plan/job_description.hpp"

#include "input/streams/open_input.hpp"

namespace troupe {

bool saves(const job_description& job) {
  const auto trigger = resolve_checkpoint_trigger(job.config);
  return job.config.model_dir && trigger && trigger->enabled();
}

bool keeps_summaries(const job_description& job) {
  return job.config.model_dir && job.config.save_summary_steps > 0 && job.train_input;
}

bool keeps_eval_summaries(const job_description& job) {
  return job.config.model_dir && job.eval_input;
}

expected<job_plan> training_plan(const job_description& job) {
  const auto trains_on = text_of(*job.train_input);
  if (!trains_on)
    return fail(trains_on.error());
  const auto evaluates_on = job.eval_input ? text_of(*job.eval_input) : expected<std::string>{};
  if (!evaluates_on)
    return fail(evaluates_on.error());
  return make_training_plan({job.hosts, static_cast<int32_t>(job.config.replicas), saves(job), keeps_summaries(job), keeps_eval_summaries(job),
                             job.eval_input.has_value(), !job.hooks.empty() || job.log != nullptr, job.source->name, *trains_on, *evaluates_on});
}

}  // namespace troupe
