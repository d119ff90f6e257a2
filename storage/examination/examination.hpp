// Examines a model directory, whole or damaged, and makes reports for people and other tools. Never writes.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/early_stopping.hpp>
#include <troupe/inspect.hpp>

#include <set>

namespace troupe {

/// Error: not_found if the checkpoint has neither a manifest nor a shard.
expected<checkpoint_description> examine_checkpoint(file_system& fs, const std::string& directory, checkpoint_id id,
                                                    const inspect_options& options);
/// Examines a TensorFlow checkpoint. Error: not_found if it has no index.
expected<checkpoint_description> examine_tensorflow(file_system& fs, const std::string& prefix,
                                                    const inspect_options& options);
/// Whether `prefix` has TensorFlow's index but not our manifest.
bool is_tensorflow_checkpoint(file_system& fs, const std::string& prefix);
/// The TensorFlow checkpoints in a directory that are named like ours.
expected<std::set<checkpoint_id>> tensorflow_ids(file_system& fs, const std::string& directory);
expected<checkpoint_description> examine_safetensors(file_system& fs, const std::string& path,
                                                     const inspect_options& options);
expected<directory_description> examine_directory(file_system& fs, const std::string& directory,
                                                  const inspect_options& options);
expected<event_file_description> examine_event_file(file_system& fs, const std::string& path);
/// Implements the public `read_evaluations`.
expected<evaluation_history> read_evaluations(file_system& fs, const std::string& directory);
/// Implements `event_points`.
expected<event_history> examine_event_points(file_system& fs, const std::string& path, std::string_view tag);

}  // namespace troupe
