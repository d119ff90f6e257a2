// The text of checkpoint ids within file names, and the choice of a checkpoint.
#pragma once

#include <troupe/checkpoint_id.hpp>

namespace troupe {

/// Removes an id from the front of `text`. Absent, and `text` unspecified, where none stands there. An id has only one
/// spelling; otherwise two names would be one checkpoint.
std::optional<checkpoint_id> take_checkpoint_id(std::string_view& text);

/// The checkpoint that a reader wants.
struct checkpoint_choice {
  int64_t step = -1;       ///< Negative: the newest of all.
  int64_t iteration = -1;  ///< Negative: the newest of the step.
};

}  // namespace troupe
