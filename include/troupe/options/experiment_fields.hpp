// The table of the fields of an experiment (options/option_field.hpp), but not of data, hooks, exporters and the counts
// of steps that specs have as well.
// Not needed to begin with.
#pragma once

#include <troupe/experiment.hpp>
#include <troupe/options/option_field.hpp>

namespace troupe {

#define TROUPE_FIELD(field, ...) \
  option_field { #field, &experiment::field, __VA_ARGS__ }

template <>
struct option_fields<experiment> {
  static constexpr std::tuple all{
      TROUPE_FIELD(eval_delay_secs, "evaluate, continuous_eval...: seconds before the first evaluation",
                   field_range::at_least(0)),
      TROUPE_FIELD(continuous_eval_throttle_secs,
                   "continuous_eval...: least seconds between the starts of two evaluations", field_range::at_least(0)),
      TROUPE_FIELD(min_eval_frequency,
                   "train_and_evaluate: least steps from one evaluated checkpoint to the next; 0: only the last one",
                   field_range::at_least(0)),
      TROUPE_FIELD(local_eval_frequency, "the same for local_run; only the last one unless given",
                   field_range::at_least(0)),
      TROUPE_FIELD(check_interval_secs, "of both: least seconds between the starts of two evaluations while training",
                   field_range::at_least(0)),
      TROUPE_FIELD(delay_workers_by_global_step, "train: workers begin by the chief's step, not by time"),
      TROUPE_FIELD(train_steps_per_iteration,
                   "continuous_train_and_eval: steps between evaluations; a tenth of run.max_steps unless given",
                   field_range::at_least(1)),
      TROUPE_FIELD(checkpoint_and_export, "train_and_evaluate: evaluates and exports at every save")};
};

#undef TROUPE_FIELD

}  // namespace troupe
