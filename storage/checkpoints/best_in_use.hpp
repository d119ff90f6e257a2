// Whether the best checkpoint stands in for the newest one.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

/// The best checkpoint, where the books of the newest one say that it is used in its place (keep_best::restore_best); absent otherwise, and
/// where the newest one cannot be read.
std::optional<checkpoint_id> best_in_use(const checkpoint_store& checkpoints);

}  // namespace troupe
