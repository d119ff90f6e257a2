// The text of checkpoint ids within file names, and the choice of a checkpoint.
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/checkpoint_ref.hpp>

namespace troupe {

/// Removes an id from the front of `text` and returns it. If there is none, returns nothing and leaves `text`
/// unspecified. An id has only one spelling, so that two names never mean one checkpoint.
std::optional<checkpoint_id> take_checkpoint_id(std::string_view& text);

/// How the name of each file of a checkpoint begins.
inline constexpr std::string_view checkpoint_stem = "model.ckpt-";
/// "model.ckpt-1200", "model.ckpt-1200-iteration-2"
std::string checkpoint_name(checkpoint_id id);
/// The id in the last component of `path`, if that is a `checkpoint_name`; absent for any other name.
std::optional<checkpoint_id> id_of_checkpoint(std::string_view path);

/// The checkpoint that a reader wants, within a directory.
struct checkpoint_choice {
  int64_t step = -1;       ///< Negative: the newest step.
  int64_t iteration = -1;  ///< Negative: the newest iteration of the step.
  bool best = false;       ///< The best checkpoint that is kept, of any step.
};
/// The choice of a valid reference. For a path, the caller handles the directory.
checkpoint_choice choice_of(const checkpoint_ref& which);

}  // namespace troupe
