// The text file `checkpoint`: which checkpoints there are, and which one is the newest.
#pragma once

#include "storage/checkpoints/retention_policy.hpp"

#include <troupe/error.hpp>

namespace troupe {

struct checkpoint_state {
  std::vector<int64_t> steps;          ///< Oldest first, none twice; the newest is among them.
  int64_t newest = 0;
  retention_marks marks;               ///< As far as the file says.
  std::vector<std::string> warnings;   ///< Entries that name no checkpoint of this directory's.
};

/// As TensorFlow writes it, with paths relative to the directory. `steps` must not be empty; the last is the newest.
/// Timestamps are written when there is one for each; what is preserved or doomed goes into comments, which TensorFlow passes
/// over.
std::string write_state_file(const std::vector<int64_t>& steps, const retention_marks& marks = {});

/// Tolerates what editing by hand and newer writers leave: comments, white space, unknown fields, absolute paths (only
/// their last part counts, so that a directory may be moved). data_loss, with line and column, when it cannot be read
/// or names no newest checkpoint.
expected<checkpoint_state> parse_state_file(const std::string& text, const std::string& path);

}  // namespace troupe
