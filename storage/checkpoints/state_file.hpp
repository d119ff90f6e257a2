// The text file `checkpoint`: the list of checkpoints, and the newest one.
#pragma once

#include "storage/checkpoints/retention_policy.hpp"

#include <troupe/error.hpp>

namespace troupe {

struct checkpoint_state {
  std::vector<checkpoint_id> ids;      ///< Oldest first, without duplicates; includes the newest.
  checkpoint_id newest;
  retention_marks marks;               ///< As far as the file has them.
  std::vector<std::string> warnings;   ///< Entries that name no checkpoint of this directory.
};

/// The text in TensorFlow's format, with paths relative to the directory. `ids` must not be empty; the last is the
/// newest. Timestamps are written when there is one for each; preserved and doomed checkpoints go into comments,
/// which TensorFlow ignores.
std::string write_state_file(const std::vector<checkpoint_id>& ids, const retention_marks& marks = {});

/// Tolerates edits by hand and newer writers: comments, white space, unknown fields, absolute paths (only their last
/// part counts, so that a directory may be moved). data_loss, with line and column, when it cannot be read or names no
/// newest checkpoint.
expected<checkpoint_state> parse_state_file(const std::string& text, const std::string& path);

/// The newest path as the file has it, whatever it is called: other programs name their checkpoints otherwise. data_loss as above.
expected<std::string> parse_newest_path(const std::string& text, const std::string& path);

}  // namespace troupe
