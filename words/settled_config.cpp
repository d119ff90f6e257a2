#include "words/settled_config.hpp"

#include <algorithm>

namespace troupe {

expected<settled_config> resolve_config(const run_config& c) {
  if (auto valid = validate(c); !valid)
    return fail(valid.error());
  const auto trigger = resolve_checkpoint_trigger(c);
  if (!trigger)
    return fail(trigger.error());
  // `validate` bounds the values narrowed here, except the number of checkpoints to keep, for which INT32_MAX means
  // all.
  settled_config s{
      .model_dir = c.model_dir,
      .seed = c.seed.value_or(0),
      .keep_checkpoint_max = static_cast<int32_t>(std::min<int64_t>(c.keep_checkpoint_max.value_or(0), INT32_MAX)),
      .keep_checkpoint_every_n_hours = c.keep_checkpoint_every_n_hours,
      .log_steps = c.log_step_count_steps.value_or(0),
      .loop = c.steps_per_loop,
      .log_perplexity = c.log_perplexity,
      .train_metrics = c.train_metrics,
      .recovery = {c.recovery_attempts_max, c.recovery_first_delay_secs, c.recovery_delay_max_secs},
      .replicas = static_cast<int32_t>(c.replicas),
      .input_mode = c.input_mode,
      .gradient_shards = static_cast<int32_t>(c.gradient_shards.value_or(c.replicas)),
      .intra_op_threads = static_cast<int32_t>(c.intra_op_threads),
      .pin_replicas = c.pin_replicas,
      .debug_numerics = c.debug_numerics,
      .on_not_finite = c.on_not_finite,
      .recompute = c.recompute};
  if (!c.model_dir)
    return s;
  s.summary_secs = c.save_summary_secs;
  if (!s.summary_secs)
    s.summary_steps = c.save_summary_steps;
  if (trigger->steps.value_or(0) > 0)
    s.save_steps = trigger->steps;
  if (trigger->secs.value_or(0) > 0)
    s.save_secs = trigger->secs;
  return s;
}

}  // namespace troupe
