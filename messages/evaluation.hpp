// Evaluation: one checkpoint, all of the data, a map of metrics.
#pragma once

#include "messages/control.hpp"

namespace troupe {

/// Evaluate a checkpoint. `prefix` is for messages only.
struct evaluate_at {
  int32_t attempt = 0;
  checkpoint_choice which;
  std::string prefix;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, evaluate_at& x) {
  return f(caf::meta::type_name("evaluate_at"), x.attempt, x.which, x.prefix);
}

/// The result of an evaluation. `metrics` include `loss` and `global_step`, `arrays` are those metrics that are arrays; if it failed, `cause`
/// is the reason.
struct evaluated {
  int32_t attempt = 0;
  checkpoint_id id;
  bool ok = false;
  std::map<std::string, double> metrics;
  int64_t batches = 0;
  double seconds = 0;
  error cause;
  std::string checkpoint;  // The checkpoint's prefix; empty: freshly initialised variables.
  std::map<std::string, tensor> arrays = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, evaluated& x) {
  return f(caf::meta::type_name("evaluated"), x.attempt, x.id, x.ok, x.metrics, x.batches, x.seconds, x.cause, x.checkpoint,
           x.arrays);
}

}  // namespace troupe
