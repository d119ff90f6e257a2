// Finds the best checkpoint of a directory; the books of the newest checkpoint name it.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

/// The best checkpoint. `directory` is only used in the error text. Errors: not_found: no best checkpoint is kept, or
/// there is no checkpoint; the errors of reading the newest manifest.
expected<checkpoint_id> best_kept(const checkpoint_store& checkpoints, const std::string& directory);
/// The best checkpoint, if the books say that it replaces the newest one (keep_best::restore_best). Absent otherwise,
/// and if the newest manifest cannot be read.
std::optional<checkpoint_id> best_in_use(const checkpoint_store& checkpoints);

}  // namespace troupe
