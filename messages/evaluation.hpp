// Evaluation: one checkpoint, all of the data, a map of metrics.
#pragma once

#include "messages/control.hpp"

namespace troupe {

/// Evaluate a checkpoint. `prefix` is for messages only, and `evaluation` the number of the evaluation, for the answer.
struct evaluate_at {
  int32_t attempt = 0;
  checkpoint_choice which;
  std::string prefix;
  int32_t evaluation = 0;
  int64_t batches = -1;  ///< Limit on the number of batches; negative: that of the evaluation.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, evaluate_at& x) {
  return f(caf::meta::type_name("evaluate_at"), x.attempt, x.which, x.prefix, x.evaluation, x.batches);
}

/// The result of an evaluation. `metrics` include `loss` and `global_step`; if it failed, `cause` is the reason.
struct evaluated {
  int32_t attempt = 0;
  checkpoint_id id;
  bool ok = false;
  std::map<std::string, double> metrics;
  int64_t batches = 0;
  double seconds = 0;
  error cause;
  std::string checkpoint;  // The checkpoint's prefix; empty: freshly initialised variables.
  int32_t evaluation = 0;  // As in the question.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, evaluated& x) {
  return f(caf::meta::type_name("evaluated"), x.attempt, x.id, x.ok, x.metrics, x.batches, x.seconds, x.cause, x.checkpoint, x.evaluation);
}

}  // namespace troupe
