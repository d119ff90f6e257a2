// Reports: what replicas produced, on the way to the outfeed and on to the chief.
#pragma once

#include "messages/control.hpp"
#include "words/step_values.hpp"

namespace troupe {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, step_values& x) {
  return f(caf::meta::type_name("step_values"), x.step, x.values, x.observed);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, recorded_tensor& x) {
  return f(caf::meta::type_name("recorded_tensor"), x.recipe, x.value);
}

/// What the step that led to state `step` recorded on one replica: one set of tensors for each gradient shard.
struct recorded_step {
  int64_t step = 0;
  std::vector<std::vector<recorded_tensor>> sets;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, recorded_step& x) {
  return f(caf::meta::type_name("recorded_step"), x.step, x.sets);
}

/// Steps [step, step + losses.size()) are done on one replica: sent for every block, and at every mark and stop.
struct step_report {
  int32_t attempt = 0;
  node_id replica{};
  int64_t step = 0;
  std::vector<double> losses;
  std::vector<step_values> watched;  ///< Of every step while evaluating, of watched ones while training.
  std::vector<recorded_step> recorded;  ///< With the loss of the step that led there.
  double seconds = 0;                ///< Time spent computing them.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, step_report& x) {
  return f(caf::meta::type_name("step_report"), x.attempt, x.replica, x.step, x.losses, x.watched, x.recorded, x.seconds);
}

/// Nothing of this replica follows state `step`, and `kind` says why.
struct stream_end {
  int32_t attempt = 0;
  node_id replica{};
  int64_t step = 0;
  error cause;  ///< In words, of whatever kind.
  end_kind kind = end_kind::data;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stream_end& x) {
  return f(caf::meta::type_name("stream_end"), x.attempt, x.replica, x.step, x.cause, x.kind);
}

/// Loss over the steps that led to state `step`, since the point before.
struct loss_point {
  int64_t step = 0;
  double last = 0;  ///< Mean over replicas of the last step.
  double mean = 0;  ///< Mean over replicas and steps.
  std::map<std::string, double> of_groups;  ///< Of a job of several groups: the means of the others, by name.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, loss_point& x) {
  return f(caf::meta::type_name("loss_point"), x.step, x.last, x.mean, x.of_groups);
}

/// From the outfeed: all replicas reached state `step`, and every host call below it has run.
struct progress {
  int32_t attempt = 0;
  int64_t step = 0;
  int64_t block_steps = 1;           ///< Steps of the report that brought it there.
  double seconds_per_step = 0;       ///< Of the slowest replica in that report.
  loss_point loss;                   ///< Since the last progress.
  std::vector<loss_point> logged;    ///< One for each multiple of log_step_count_steps passed.
  std::vector<step_values> watched;  ///< Of the whole step: the loss is the mean over replicas.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, progress& x) {
  return f(caf::meta::type_name("progress"), x.attempt, x.step, x.block_steps, x.seconds_per_step, x.loss, x.logged, x.watched);
}

/// Asks the outfeed to pass on all it holds; answered by `flushed`, which follows everything passed on.
struct flush {
  uint64_t number = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, flush& x) {
  return f(caf::meta::type_name("flush"), x.number);
}
struct flushed {
  uint64_t number = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, flushed& x) {
  return f(caf::meta::type_name("flushed"), x.number);
}

/// What went wrong, to whoever decides. An error with a step comes by the report edge, after the reports before it.
struct failure {
  int32_t attempt = 0;
  role from = role::chief;  ///< Who cannot go on.
  error what;               ///< `source` and `step` say where.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, failure& x) {
  return f(caf::meta::type_name("failure"), x.attempt, x.from, x.what);
}

}  // namespace troupe
