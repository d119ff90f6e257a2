// Reports: the results of replicas, sent to the outfeed and from there to the chief.
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

/// The summary tensors that one replica recorded in the step that led to state `step`: one set for each gradient shard.
struct recorded_step {
  int64_t step = 0;
  std::vector<std::vector<recorded_tensor>> sets;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, recorded_step& x) {
  return f(caf::meta::type_name("recorded_step"), x.step, x.sets);
}

/// The sums of one replica's metrics: of the step that led to state `step`, or of all steps since the previous sums.
struct measured_steps {
  int64_t step = 0;
  std::vector<tensor> sums;  ///< Float64, in the order of `step_engine::measured`.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, measured_steps& x) {
  return f(caf::meta::type_name("measured_steps"), x.step, x.sums);
}

/// What groups tell of themselves for the save of state `step`: values of variables of one element, by their names.
struct told_state {
  int64_t step = 0;
  std::map<std::string, double> values;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, told_state& x) {
  return f(caf::meta::type_name("told_state"), x.step, x.values);
}

/// Steps [step, step + losses.size()) are done on one replica. Sent for every block, and at every mark and stop.
struct step_report {
  int32_t attempt = 0;
  node_id replica{};
  int64_t step = 0;
  std::vector<double> losses;
  std::vector<step_values> watched;           ///< Values of every step in an evaluation, of watched steps in training.
  std::vector<recorded_step> recorded;        ///< Summaries of the steps that recorded any.
  double seconds = 0;                         ///< Time spent computing these steps.
  std::vector<measured_steps> measured = {};  ///< Training: one for each multiple of log_step_count_steps reached.
  std::vector<told_state> told = {};          ///< Training: of states that were saved; what this replica's slice has.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, step_report& x) {
  return f(caf::meta::type_name("step_report"), x.attempt, x.replica, x.step, x.losses, x.watched, x.recorded,
           x.seconds, x.measured, x.told);
}

/// No report of this replica follows state `step`, for the reason in `kind`.
struct stream_end {
  int32_t attempt = 0;
  node_id replica{};
  int64_t step = 0;
  error cause;  ///< The reason as an error, for every kind.
  end_kind kind = end_kind::data;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stream_end& x) {
  return f(caf::meta::type_name("stream_end"), x.attempt, x.replica, x.step, x.cause, x.kind);
}

/// The loss of one group.
struct group_loss {
  double last = 0;  ///< Mean over replicas, of the last step.
  double mean = 0;  ///< Mean over replicas and steps.
  friend bool operator==(const group_loss&, const group_loss&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, group_loss& x) {
  return f(caf::meta::type_name("group_loss"), x.last, x.mean);
}

/// Loss over the steps between the previous point and state `step`.
struct loss_point {
  int64_t step = 0;
  double last = 0, mean = 0;                    ///< Of the first group that has not left.
  std::map<std::string, group_loss> of_groups;  ///< In a job of several groups: of each that has not left, by name.
  /// Training metrics, where they are measured; in a job of several groups as <group>/<metric>.
  std::map<std::string, double> metrics = {};
  std::map<std::string, tensor> arrays = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, loss_point& x) {
  return f(caf::meta::type_name("loss_point"), x.step, x.last, x.mean, x.of_groups, x.metrics, x.arrays);
}

/// What the steps of a loop have brought, or those of its steps that this attempt has made.
struct loop_point {
  int64_t begins = 0;          ///< The step with which the loop began.
  int64_t first = 0, end = 0;  ///< Steps [first, end) count; `first` is greater than `begins` after a resumption.
  double last = 0, mean = 0;   ///< The loss, as in `loss_point`.
  double first_replica = 0;    ///< The loss of the last step on replica 0.
  double seconds = 0;          ///< By the outfeed's clock.
  int64_t steps() const { return end - first; }
  friend bool operator==(const loop_point&, const loop_point&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, loop_point& x) {
  return f(caf::meta::type_name("loop_point"), x.begins, x.first, x.end, x.last, x.mean, x.first_replica, x.seconds);
}

/// From the outfeed: all replicas reached state `step`, and every host call below it has run.
struct progress {
  int32_t attempt = 0;
  int64_t step = 0;
  int64_t block_steps = 1;             ///< Steps of the report with which the state was reached.
  double seconds_per_step = 0;         ///< Time per step of the slowest replica in that report.
  loss_point loss;                     ///< Loss since the last progress.
  std::vector<loss_point> logged;      ///< One for each multiple of log_step_count_steps passed.
  std::vector<step_values> watched;    ///< Watched steps; their loss is the mean over replicas.
  std::vector<told_state> told = {};   ///< Saved states, each once all groups that have not left have told all.
  std::vector<loop_point> loops = {};  ///< Training: those that have ended.
  loop_point open = {};                ///< The one that state `step` is in; without steps where it begins there.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, progress& x) {
  return f(caf::meta::type_name("progress"), x.attempt, x.step, x.block_steps, x.seconds_per_step, x.loss, x.logged,
           x.watched, x.told, x.loops, x.open);
}

/// Asks the outfeed to pass on all complete steps; answered by `flushed`, which follows them.
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

/// A failure, sent to the actor that decides: the chief or a launcher. An error with a step travels along the report
/// edge, behind the reports of earlier steps.
struct failure {
  int32_t attempt = 0;
  node_id who{};  ///< The node that cannot go on.
  error what;     ///< `source` and `step` say where it happened.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, failure& x) {
  return f(caf::meta::type_name("failure"), x.attempt, x.who, x.what);
}

}  // namespace troupe
