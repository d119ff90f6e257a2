// The identity of a checkpoint: its step and the iteration of a search that committed it.
// Not needed to begin with.
//
//   tr::delete_checkpoints("runs/fashion", {{.step = 390}});
#pragma once

#include <troupe/api.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// A step alone does not identify a checkpoint, since a search commits a grown model at the step of its last commit.
/// The comparison is for sorted containers; the order of the state file says which of two checkpoints is newer.
struct checkpoint_id {
  int64_t step = 0;       ///< The state that was saved.
  int64_t iteration = 0;  ///< The iteration of a search; 0 outside of a search.
  friend auto operator<=>(const checkpoint_id&, const checkpoint_id&) = default;
};

/// "390", "390-iteration-2": the end of the checkpoint's file name.
TROUPE_API std::string to_string(checkpoint_id id);
/// Reads the output of `to_string`. Absent for any other text, such as one with leading zeros, a sign or "iteration-0".
TROUPE_API std::optional<checkpoint_id> parse_checkpoint_id(std::string_view text);

}  // namespace troupe
