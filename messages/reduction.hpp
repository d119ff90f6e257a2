// The reduction of one step: by messages to a reducer, or in a collective, where messages only wake. In both a status
// word is OR-ed over all replicas, and no replica applies the step if any bit is set.
#pragma once

#include "messages/control.hpp"

namespace troupe {

/// From a replica to one that sleeps: all replicas of the group have come to the phase for which it sleeps.
struct wake {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, wake& x) {
  return f(caf::meta::type_name("wake"), x.attempt, x.step);
}

/// The gradient of one replica, summed over its shards; empty when the status forbids its use, and of a retired group.
struct gradient_part {
  int32_t attempt = 0;
  int64_t step = 0;
  int32_t replica = 0;
  step_status status = step_status::ok;
  tensor gradient;
  error cause;           ///< The reason when the status is not ok.
  bool retired = false;  ///< The group trains no more: only the status is reduced.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, gradient_part& x) {
  return f(caf::meta::type_name("gradient_part"), x.attempt, x.step, x.replica, x.status, x.gradient, x.cause,
           x.retired);
}

/// The sum over all replicas by a fixed pairwise tree, and the status of the step. Of a retired group there is no sum,
/// and nothing is applied.
struct gradient_sum {
  int32_t attempt = 0;
  int64_t step = 0;
  step_status status = step_status::ok;
  tensor gradient;
  error cause;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, gradient_sum& x) {
  return f(caf::meta::type_name("gradient_sum"), x.attempt, x.step, x.status, x.gradient, x.cause);
}

/// From a replica: it has applied step `step` to its slice.
struct applied {
  int32_t attempt = 0;
  int64_t step = 0;
  int32_t replica = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, applied& x) {
  return f(caf::meta::type_name("applied"), x.attempt, x.step, x.replica);
}

/// From the reducer: every replica has applied step `step` to its slice.
struct all_applied {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, all_applied& x) {
  return f(caf::meta::type_name("all_applied"), x.attempt, x.step);
}

}  // namespace troupe
