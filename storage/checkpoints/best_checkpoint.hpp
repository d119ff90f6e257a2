// The best checkpoint of a directory, as the books of its newest one name it.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

/// `directory` is theirs, for the error. not_found: none is kept, or there is no checkpoint; the errors of reading the newest manifest.
expected<checkpoint_id> best_kept(const checkpoint_store& checkpoints, const std::string& directory);
/// The best checkpoint, where the books say that it is used in place of the newest one (keep_best::restore_best); absent otherwise, and
/// where the newest one cannot be read.
std::optional<checkpoint_id> best_in_use(const checkpoint_store& checkpoints);

}  // namespace troupe
