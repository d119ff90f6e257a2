// From a stored checkpoint into a parameter store.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

/// The name under which the step itself is stored, an int64 scalar, beside the variables.
inline constexpr std::string_view global_step_name = "global_step";

/// What a checkpoint of this layout holds: every variable and slot, and the step.
std::vector<component> wanted_tensors(const parameter_layout& layout);

/// Copies every tensor that the store has a place for into arena 0, moving averages into that of their variables where the
/// layout says so. Checked first, so that on error nothing has changed:
/// failed_precondition listing every variable that is missing, of another shape or dtype, or (when `exact`) unexpected.
expected<void> load_into(parameter_store& store, const restored_checkpoint& from, bool exact);

/// Which state whoever only reads a model directory works on.
struct loaded_state {
  int64_t step = 0;
  std::string prefix;                 ///< Of the checkpoint; empty: freshly initialised variables.
  std::vector<std::string> warnings;  ///< Damaged checkpoints that were passed over.
  std::shared_ptr<file_hold> lease;   ///< While it lives nobody deletes the checkpoint.
};
/// Fills arena 0 from the checkpoint of `step`, or the newest one when negative; where there is no checkpoint at all, or no
/// directory, with freshly initialised variables. not_found for a step that is not there; data_loss, failed_precondition.
expected<loaded_state> load_or_initialise(const std::shared_ptr<file_system>& files, const std::string& directory, int64_t step,
                                          uint64_t seed, parameter_store& store);

}  // namespace troupe
