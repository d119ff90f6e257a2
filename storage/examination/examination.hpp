// Examines a model directory, whole or damaged: reports for people and for other tools. Nothing here writes.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/early_stopping.hpp>
#include <troupe/inspect.hpp>

namespace troupe {

/// not_found: neither a manifest nor a shard of it.
expected<checkpoint_report> examine_checkpoint(file_system& fs, const std::string& directory, checkpoint_id id,
                                               const inspect_options& options);
expected<checkpoint_report> examine_safetensors(file_system& fs, const std::string& path, const inspect_options& options);
expected<directory_report> examine_directory(file_system& fs, const std::string& directory, const inspect_options& options);
expected<event_report> examine_event_file(file_system& fs, const std::string& path);
/// `read_evaluations`.
expected<evaluation_history> read_evaluations(file_system& fs, const std::string& directory);
/// `event_points`.
expected<event_points_report> examine_event_points(file_system& fs, const std::string& path, std::string_view tag);

}  // namespace troupe
