// The table of run_config's fields (options/option_field.hpp), for `validate`, `replace`, files, --set and --help.
// Not needed to begin with.
#pragma once

#include <troupe/options/input_mode_names.hpp>
#include <troupe/options/option_field.hpp>
#include <troupe/run_config.hpp>

namespace troupe {

template <class T>
struct option_value<setting<T>> {
  using type = T;
  static constexpr bool may_be_none = true;
};
template <class T>
std::string option_text(const setting<T>& value) {
  return option_text(value.value());
}
template <class T>
bool parse_option(std::string_view text, setting<T>& into) {
  std::optional<T> parsed;
  if (!parse_option(text, parsed))
    return false;
  into = parsed ? setting<T>{*parsed} : setting<T>{std::nullopt};
  return true;
}
template <class T>
expected<void> check_option(std::string_view label, const setting<T>& value, const field_range& range) {
  return check_option(label, value.value(), range);
}

template <>
struct option_choices<train_metrics> {
  static const inline std::pair<std::string_view, train_metrics> all[] = {
      {"none", train_metrics::none}, {"logged", train_metrics::logged}, {"all", train_metrics::all}};
};

template <>
struct option_choices<not_finite> {
  static const inline std::pair<std::string_view, not_finite> all[] = {{"fail", not_finite::fail},
                                                                       {"stop", not_finite::stop}};
};

template <>
struct option_choices<cluster_protocol> {
  static const inline std::pair<std::string_view, cluster_protocol> all[] = {
      {"grpc", cluster_protocol::grpc}, {"grpc+verbs", cluster_protocol::grpc_verbs}};
};

#define TROUPE_FIELD(field, ...) \
  option_field { #field, &run_config::field, __VA_ARGS__ }

template <>
struct option_fields<run_config> {
  static constexpr std::tuple all{
      TROUPE_FIELD(model_dir, "checkpoints are kept here, and gone on from"),
      TROUPE_FIELD(seed, "of initial values, shuffles and dropout; none: 0"),
      TROUPE_FIELD(save_summary_steps, "steps between two summaries; 0: none", field_range::at_least(0)),
      TROUPE_FIELD(save_summary_secs, "or seconds between two summaries", field_range::above_number(0)),
      TROUPE_FIELD(save_checkpoints_steps, "steps between two checkpoints", field_range::at_least(0)),
      TROUPE_FIELD(save_checkpoints_secs, "or seconds", field_range::at_least(0)),
      TROUPE_FIELD(keep_checkpoint_max, "how many checkpoints are kept; 0: all", field_range::at_least(0)),
      TROUPE_FIELD(keep_checkpoint_every_n_hours, "and one of every so many hours",
                   field_range::above_number(0).or_infinite()),
      TROUPE_FIELD(log_step_count_steps, "steps between two reports of progress", field_range::at_least(1)),
      TROUPE_FIELD(train_metrics,
                   "metrics of training at these reports: of their own step, of all steps since the last one, or none"),
      TROUPE_FIELD(steps_per_loop, "steps of a loop, with which states that last a loop begin",
                   field_range::at_least(1)),
      TROUPE_FIELD(log_perplexity, "also show perplexity (ppl) and bits per character (bpc) with the loss"),
      TROUPE_FIELD(
          gradient_shards,
          "parts of a batch that are summed in a fixed order, a power of two; as many as replicas unless given",
          field_range::between(1, 1 << 20)),
      // These limits bound the threads of a process; the numbers of a plan have room for more.
      TROUPE_FIELD(replicas, "copies of the model that share the work", field_range::between(1, 1024)),
      TROUPE_FIELD(
          input_mode,
          "who reads the data of training: one input whose batches replicas divide (per_host, sliced), take in "
          "turn (per_replica) or all get (broadcast), or one for each replica (per_core)"),
      TROUPE_FIELD(
          intra_op_threads,
          "threads that share the arithmetic of a replica; 0: as many as there are processors for it and as pay",
          field_range::between(0, 1024)),
      TROUPE_FIELD(
          pin_replicas,
          "training: replica r runs only on the r-th processor that the process may use, with one thread unless "
          "intra_op_threads says otherwise"),
      TROUPE_FIELD(recovery_attempts_max,
                   "how often in a row a job goes on from its last checkpoint after a reader of data or a replica has "
                   "died; 0: never",
                   field_range::between(0, 1e9)),
      // About a century, so that no delay overflows a clock.
      TROUPE_FIELD(recovery_first_delay_secs, "seconds before the first of these; each later delay is twice as long",
                   field_range::between(0, 3e9)),
      TROUPE_FIELD(recovery_delay_max_secs, "and at most this", field_range::between(0, 3e9)),
      TROUPE_FIELD(debug_numerics, "when a step is not finite, name its first operation that is not"),
      TROUPE_FIELD(on_not_finite, "a step that is not finite fails the job, or stops it before that step"),
      TROUPE_FIELD(recompute, "compute cheap values again for the gradients, to save memory"),
      TROUPE_FIELD(protocol,
                   "in a cluster: the label in front of a task's address, only shown so far; grpc unless given"),
      TROUPE_FIELD(session_creation_timeout_secs,
                   "in a cluster: how long a task waits for the chief's first checkpoint",
                   field_range{.least = 0, .most = 3e9, .below = false}),
      TROUPE_FIELD(chief_wait_secs, "in a cluster: how long a task waits for a chief that has gone",
                   field_range::between(0, 3e9)),
      TROUPE_FIELD(
          max_worker_delay_secs,
          "in a cluster: worker k begins 5 (k + 1) seconds later, and at most this, only shown so far; 60 unless given",
          field_range::between(0, 3e9))};
};

#undef TROUPE_FIELD

}  // namespace troupe
