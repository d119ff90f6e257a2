// The text file `checkpoint`: it lists the checkpoints of a directory and names the newest.
#pragma once

#include "storage/checkpoints/retention_policy.hpp"

#include <troupe/error.hpp>

namespace troupe {

struct checkpoint_state {
  std::vector<checkpoint_id> ids;  ///< Oldest first, without duplicates; includes the newest.
  checkpoint_id newest;
  retention_state retention;          ///< The parts that the file has.
  std::vector<std::string> warnings;  ///< One for each entry that does not name a checkpoint of this directory.
};

/// The text in TensorFlow's format, with paths relative to the directory. `ids` must not be empty; the last is the
/// newest. Timestamps are written only if every checkpoint has one. Preserved and doomed checkpoints are written as
/// comments, which TensorFlow ignores.
std::string write_state_file(const std::vector<checkpoint_id>& ids, const retention_state& retention = {});

/// Accepts manual edits and newer writers: comments, white space, unknown fields, absolute paths (only their last part
/// is used, so that a directory may be moved). Error: data_loss, with line and column, if the text cannot be parsed or
/// names no newest checkpoint.
expected<checkpoint_state> parse_state_file(const std::string& text, const std::string& path);

/// The newest path exactly as the file has it, since other programs name their checkpoints differently. Error:
/// data_loss as above.
expected<std::string> parse_newest_path(const std::string& text, const std::string& path);

}  // namespace troupe
