// The tables of the fields of train_spec, eval_spec and predict_spec (options/option_field.hpp), but not data and
// hooks.
// Not needed to begin with.
#pragma once

#include <troupe/options/option_field.hpp>
#include <troupe/predict.hpp>

namespace troupe {

template <>
struct option_choices<evaluation_mode> {
  static constexpr std::pair<std::string_view, evaluation_mode> all[] = {{"waits", evaluation_mode::waits},
                                                                         {"beside", evaluation_mode::beside}};
};

template <>
struct option_choices<failure_policy> {
  static constexpr std::pair<std::string_view, failure_policy> all[] = {{"fail", failure_policy::fail},
                                                                        {"go_on", failure_policy::go_on}};
};

template <>
struct option_choices<input_change> {
  static constexpr std::pair<std::string_view, input_change> all[] = {{"refuse", input_change::refuse},
                                                                      {"anew", input_change::anew}};
};

#define TROUPE_FIELD(owner, field, ...) \
  option_field { #field, &owner::field, __VA_ARGS__ }

template <>
struct option_fields<train_spec> {
  static constexpr std::tuple all{
      TROUPE_FIELD(train_spec, max_steps, "the step to end at, those of earlier runs included",
                   field_range::at_least(1)),
      TROUPE_FIELD(train_spec, steps, "how many steps to make, whatever was done before", field_range::at_least(1)),
      TROUPE_FIELD(train_spec, max_secs, "stops, to go on later, after training for so many seconds",
                   field_range::above_number(0)),
      TROUPE_FIELD(train_spec, epochs, "passes over the training data; with max_steps too, the earlier wins",
                   field_range::at_least(1)),
      TROUPE_FIELD(train_spec, continue_input, "data of a finished job that gets more steps go on where they ended"),
      TROUPE_FIELD(train_spec, input_changed,
                   "data that are not those of the checkpoint: an error, or they begin anew")};
};

template <>
struct option_fields<eval_spec> {
  static constexpr std::tuple all{
      TROUPE_FIELD(eval_spec, steps, "batches; all of the data unless given", field_range::at_least(1)),
      TROUPE_FIELD(eval_spec, name, "results go to eval_<name>"),
      TROUPE_FIELD(eval_spec, start_delay_secs, "no evaluation begins before, but for the last",
                   field_range::at_least(0).or_infinite()),
      TROUPE_FIELD(eval_spec, throttle_secs, "least time between two evaluations",
                   field_range::at_least(0).or_infinite()),
      TROUPE_FIELD(eval_spec, sanity_batches,
                   "batches evaluated before the first step of a new job, to find what cannot work",
                   field_range::at_least(0)),
      TROUPE_FIELD(eval_spec, every_steps, "evaluates between checkpoints as well, at the multiples of so many steps",
                   field_range::at_least(1)),
      TROUPE_FIELD(eval_spec, when, "training waits, or goes on beside it"),
      TROUPE_FIELD(
          eval_spec, replicas,
          "replicas to which the batches are dealt; run.replicas unless given, 1 where training goes on beside",
          field_range::between(1, 1024)),
      TROUPE_FIELD(eval_spec, on_evaluator_failure, "an evaluation that fails ends the job, or is a warning")};
};

template <>
struct option_fields<predict_spec> {
  static constexpr std::tuple all{
      TROUPE_FIELD(predict_spec, keys, "only these predictions"),
      TROUPE_FIELD(predict_spec, checkpoint,
                   "newest (or the best, where keep_best.restore_best says so), best, a step, or a path such as "
                   "dir/model.ckpt-390"),
      TROUPE_FIELD(predict_spec, single_examples, "one result for each example, not for each batch"),
      // The limit keeps sums of steps far below overflow.
      TROUPE_FIELD(predict_spec, batches_ahead, "batches computed beyond the one being taken",
                   field_range::between(0, INT32_MAX)),
      TROUPE_FIELD(predict_spec, replicas, "replicas to which the batches are dealt", field_range::between(1, 1024)),
      TROUPE_FIELD(predict_spec, batch_bytes_below, "the predictions of a batch must take fewer bytes",
                   field_range::at_least(1))};
};

#undef TROUPE_FIELD

}  // namespace troupe
