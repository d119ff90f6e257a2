// The file names of a checkpoint, and the step that a name belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

inline constexpr std::string_view state_file_name = "checkpoint";

/// "model.ckpt-1200"
std::string checkpoint_name(int64_t step);
/// "model.ckpt-1200.manifest.json"
std::string manifest_name(int64_t step);
/// "model.ckpt-1200-00000-of-00002.safetensors"; `index` counts from 0.
std::string shard_name(int64_t step, int64_t index, int64_t count);

/// The step of "model.ckpt-<step>", after the last '/' of a path; absent for any other name.
std::optional<int64_t> step_of_checkpoint(std::string_view path);
/// The step of a manifest's file name; absent for any other name.
std::optional<int64_t> step_of_manifest(std::string_view file_name);
/// The step of a shard's file name; absent for any other name.
std::optional<int64_t> step_of_shard(std::string_view file_name);
/// Whether `file_name` is a store's temporary name, used until the file is renamed.
bool is_temporary(std::string_view file_name);

}  // namespace troupe
