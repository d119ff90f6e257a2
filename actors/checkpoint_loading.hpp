// From a stored checkpoint into a parameter store.
#pragma once

#include "compute/parameter_store.hpp"
#include "storage/checkpoint_store.hpp"

namespace troupe {

/// The name under which the step itself is stored, an int64 scalar, beside the variables.
inline constexpr std::string_view global_step_name = "global_step";

/// What a checkpoint of this layout holds: every variable and slot, and the step.
std::vector<component> wanted_tensors(const parameter_layout& layout);

/// Copies every tensor that the store has a place for into arena 0. Checked first, so that on error nothing has changed:
/// failed_precondition listing every variable that is missing, of another shape or dtype, or (when `exact`) unexpected.
expected<void> load_into(parameter_store& store, const restored_checkpoint& from, bool exact);

}  // namespace troupe
