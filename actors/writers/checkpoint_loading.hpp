// From a stored checkpoint into a parameter store.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

/// The name under which the step itself is stored, an int64 scalar, beside the variables.
inline constexpr std::string_view global_step_name = "global_step";

using stores = std::span<const std::shared_ptr<parameter_store>>;

/// What a checkpoint of these stores, one a group, holds: every variable and slot, and the step.
std::vector<component> wanted_tensors(stores groups);

/// Copies every tensor that a store has a place for into its arena 0, moving averages into that of their variables where the
/// layout says so. Checked first, so that on error nothing has changed:
/// failed_precondition listing every variable that is missing, of another shape or dtype, or (when `exact`) in none of the stores.
expected<void> load_into(stores groups, const restored_checkpoint& from, bool exact);

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
                                          uint64_t seed, const std::shared_ptr<parameter_store>& store);

}  // namespace troupe
