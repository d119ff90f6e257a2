// The text of checkpoint ids within file names, and the choice of a checkpoint.
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/checkpoint_ref.hpp>

namespace troupe {

/// Removes an id from the front of `text`. Absent, and `text` unspecified, where none stands there. An id has only one
/// spelling; otherwise two names would be one checkpoint.
std::optional<checkpoint_id> take_checkpoint_id(std::string_view& text);

/// How the name of each file of a checkpoint begins.
inline constexpr std::string_view checkpoint_stem = "model.ckpt-";
/// "model.ckpt-1200", "model.ckpt-1200-iteration-2"
std::string checkpoint_name(checkpoint_id id);
/// The checkpoint of a `checkpoint_name`, after the last '/' of a path; absent for any other name.
std::optional<checkpoint_id> id_of_checkpoint(std::string_view path);

/// The checkpoint that a reader wants, within a directory.
struct checkpoint_choice {
  int64_t step = -1;       ///< Negative: the newest of all.
  int64_t iteration = -1;  ///< Negative: the newest of the step.
  bool best = false;       ///< The best that is kept, of whatever step.
};
/// That of a reference that is valid. Of a path the directory is left to the caller.
checkpoint_choice choice_of(const checkpoint_ref& which);

}  // namespace troupe
