// Examines a model directory, whole or damaged: reports for people and for other tools. Nothing here writes.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/early_stopping.hpp>
#include <troupe/inspect.hpp>

#include <set>

namespace troupe {

/// not_found: neither a manifest nor a shard of it.
expected<checkpoint_report> examine_checkpoint(file_system& fs, const std::string& directory, checkpoint_id id,
                                               const inspect_options& options);
/// A TensorFlow checkpoint; not_found: it has no index.
expected<checkpoint_report> examine_tensorflow(file_system& fs, const std::string& prefix, const inspect_options& options);
/// Whether `prefix` has TensorFlow's index and no manifest of ours.
bool is_tensorflow_checkpoint(file_system& fs, const std::string& prefix);
/// The TensorFlow checkpoints in a directory that are called as ours are.
expected<std::set<checkpoint_id>> tensorflow_ids(file_system& fs, const std::string& directory);
expected<checkpoint_report> examine_safetensors(file_system& fs, const std::string& path, const inspect_options& options);
expected<directory_report> examine_directory(file_system& fs, const std::string& directory, const inspect_options& options);
expected<event_report> examine_event_file(file_system& fs, const std::string& path);
/// `read_evaluations`.
expected<evaluation_history> read_evaluations(file_system& fs, const std::string& directory);
/// `event_points`.
expected<event_points_report> examine_event_points(file_system& fs, const std::string& path, std::string_view tag);

}  // namespace troupe
