// Messages of evaluations: one checkpoint, all of the data, a map of metrics.
#pragma once

#include "messages/control.hpp"

#include <troupe/early_stopping.hpp>

namespace troupe {

/// Evaluates a checkpoint. `prefix` is only for texts; `evaluation` is the number of the evaluation, which the answer
/// repeats.
struct evaluate_at {
  int32_t attempt = 0;
  checkpoint_choice which;
  std::string prefix;
  int32_t evaluation = 0;
  int64_t batches = -1;  ///< Limit on the number of batches; negative: the evaluation's own limit.
  bool shown = false;    ///< Evaluate the state of step `which.step`, which was sent before, instead of a checkpoint.
  /// The checkpoint has no variables of groups that have left; these get initial values.
  bool lacks_groups = false;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, evaluate_at& x) {
  return f(caf::meta::type_name("evaluate_at"), x.attempt, x.which, x.prefix, x.evaluation, x.batches, x.shown,
           x.lacks_groups);
}

/// Progress of a running evaluation: the number of batches that are done. Sent at most ten times a second.
struct batches_evaluated {
  int32_t attempt = 0;
  checkpoint_id id;
  int32_t evaluation = 0;
  int64_t batches = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, batches_evaluated& x) {
  return f(caf::meta::type_name("batches_evaluated"), x.attempt, x.id, x.evaluation, x.batches);
}

/// Runs the exporters of an evaluation on a committed checkpoint, whose lease is held meanwhile. Answered by
/// `exported`.
struct export_at {
  int32_t attempt = 0;
  checkpoint_id id;
  std::string prefix;
  int32_t evaluation = 0;
  std::map<std::string, double> metrics;
  bool is_final = false;
  bool again = false;       ///< The job began with this checkpoint and has made no step since.
  std::string leader = {};  ///< The candidate of a search whose metrics these are; empty: of none, or it is not known.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, export_at& x) {
  return f(caf::meta::type_name("export_at"), x.attempt, x.id, x.prefix, x.evaluation, x.metrics, x.is_final, x.again,
           x.leader);
}

/// The answer to `export_at`: the exporters have run. If one failed, `cause` is the reason. An empty path: that
/// exporter had nothing to do.
struct exported {
  int32_t attempt = 0;
  checkpoint_id id;
  int32_t evaluation = 0;
  bool ok = false;
  std::vector<std::string> paths;
  error cause;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, exported& x) {
  return f(caf::meta::type_name("exported"), x.attempt, x.id, x.evaluation, x.ok, x.paths, x.cause);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, evaluation_point& x) {
  return f(caf::meta::type_name("evaluation_point"), x.step, x.metrics);
}

/// Applies a rule of the job, whose predicate is user code, to `history`. Answered by `rule_applied`.
struct apply_rule {
  uint64_t number = 0;  ///< The number of the question, which the answer repeats.
  int32_t rule = 0;     ///< Index among the rules of the job.
  evaluation_history history;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, apply_rule& x) {
  return f(caf::meta::type_name("apply_rule"), x.number, x.rule, x.history);
}

/// The answer to `apply_rule`. `why`: the reason to end the job; empty: it goes on. If the predicate threw, `cause` has
/// the exception.
struct rule_applied {
  uint64_t number = 0;
  bool ok = false;
  std::string why;
  error cause;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, rule_applied& x) {
  return f(caf::meta::type_name("rule_applied"), x.number, x.ok, x.why, x.cause);
}

/// The result of an evaluation. `metrics` include `loss` and `global_step`; `arrays` are the metrics that are arrays.
/// If the evaluation failed, `cause` is the reason.
struct evaluated {
  int32_t attempt = 0;
  checkpoint_id id;
  bool ok = false;
  std::map<std::string, double> metrics;
  int64_t batches = 0;
  double seconds = 0;
  error cause;
  std::string checkpoint;  // The checkpoint's prefix; empty: freshly initialised variables.
  int32_t evaluation = 0;  // As in `evaluate_at`.
  std::map<std::string, tensor> arrays = {};
  std::vector<std::string> warnings = {};  // Of the newest checkpoint: damaged ones that were passed over.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, evaluated& x) {
  return f(caf::meta::type_name("evaluated"), x.attempt, x.id, x.ok, x.metrics, x.batches, x.seconds, x.cause,
           x.checkpoint, x.evaluation, x.arrays, x.warnings);
}

}  // namespace troupe
