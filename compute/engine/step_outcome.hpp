// What replicas say of a step, and what follows for all of them.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "words/step_status.hpp"

#include <string_view>

namespace troupe {

/// Of one replica, or of a step as a whole.
struct step_outcome {
  step_status status = step_status::ok;
  error cause = {};  ///< The reason if the status is not ok.
};

/// The outcome of a step from those of its replicas, in their order and at least one: the flags of all, and the cause
/// of the gravest, which of equals is the first. If that is a value that is not finite, the others that were not finite
/// are its notes.
step_outcome joined(std::span<const step_outcome> of_replicas);
/// The outcome of a step whose sum of gradients is not finite though all its replicas were: names the variable and the
/// replicas. `parts` are whole gradients, in the order of replicas.
step_outcome not_finite_sum(const parameter_layout& layout, std::span<const tensor> parts, const tensor& sum,
                            int64_t step);

}  // namespace troupe
