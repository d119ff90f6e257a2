// Loads a stored checkpoint into parameter stores.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "storage/checkpoints/checkpoint_reader.hpp"
#include "words/checkpoint_id.hpp"
#include "words/stored_plan.hpp"

namespace troupe {

/// The name under which the step is stored beside the variables, as an int64 scalar.
inline constexpr std::string_view global_step_name = "global_step";

/// The layout of a group's parameter store.
struct group_layout {
  group_id group{};
  std::shared_ptr<const parameter_layout> layout;
  std::string name = {};  ///< May be empty if no group leaves.
};
using layouts = std::span<const group_layout>;

/// The variables and slots of a store with that layout, as checkpoints hold them.
stored_group stored_of(const parameter_layout& layout, group_id group = {}, std::string name = {});
using stored_groups = std::span<const stored_group>;
/// Null if the group has no entry with that name.
const stored_entry* find_entry(const stored_group& in, std::string_view name);

/// The tensors in a checkpoint of these groups: every variable and slot, and the step.
std::vector<component> wanted_tensors(stored_groups groups);

/// failed_precondition listing every variable that is missing, has another shape or dtype, or (if `exact`) belongs to
/// none of the groups and is not one of `numbers` (see `stored_plan`).
expected<void> check_tensors(stored_groups groups, const checkpoint_info& from, bool exact,
                             std::span<const std::string> numbers = {});

/// As `check_tensors`, for the state from which an iteration grows: fresh tensors are absent, renamed ones have their
/// old names, and dropped ones may be present, if the growth says so any others too.
expected<void> check_growth(stored_groups groups, const stored_growth& growth, const checkpoint_info& from);

/// Reads every tensor that the store has an entry for into its arena 0; moving averages replace their variables if the
/// layout says so. Names, shapes and dtypes are checked first: if they differ, nothing changes. If a tensor is damaged,
/// the contents of the arena are unusable.
expected<void> load_into(const std::shared_ptr<parameter_store>& store, checkpoint_reader& from);
/// As above, but variables that the checkpoint lacks get their initial values.
expected<void> load_present(const std::shared_ptr<parameter_store>& store, checkpoint_reader& from, uint64_t seed);

class start_values;

/// The state on which an evaluation or a prediction works.
struct loaded_state {
  checkpoint_id id;
  std::string prefix;                 ///< The checkpoint's prefix; empty: freshly initialised variables.
  std::vector<std::string> warnings;  ///< Damaged checkpoints that were skipped.
  std::shared_ptr<file_hold> lease;   ///< Keeps the checkpoint from being deleted while the lease is held.
  int64_t global_step = 0;            ///< Of a search it may be below the step of the checkpoint.
};
/// Whether the chosen checkpoint has all variables of the store.
enum class completeness : uint8_t { whole, lacks_groups };
/// Fills arena 0 from the chosen checkpoint. If the choice is the newest and there is no checkpoint or directory, fills
/// it with freshly initialised variables and then with the values of `start`, unless that is null. Errors: not_found
/// for a step without a checkpoint; data_loss, failed_precondition, and the errors of `start`.
expected<loaded_state> load_or_initialise(const std::shared_ptr<file_system>& files, const std::string& directory,
                                          checkpoint_choice which, uint64_t seed,
                                          const std::shared_ptr<parameter_store>& store,
                                          const start_values* start = nullptr,
                                          completeness state = completeness::whole);

}  // namespace troupe
