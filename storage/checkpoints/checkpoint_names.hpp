// The file names of a checkpoint, and the checkpoint that a name belongs to.
#pragma once

#include "words/checkpoint_id.hpp"

namespace troupe {

inline constexpr std::string_view state_file_name = "checkpoint";

/// "model.ckpt-1200.manifest.json"
std::string manifest_name(checkpoint_id id);
/// "model.ckpt-1200.verdict.json"
std::string verdict_name(checkpoint_id id);
/// "model.ckpt-1200-00000-of-00002.safetensors"; `index` counts from 0.
std::string shard_name(checkpoint_id id, int64_t index, int64_t count);

/// The checkpoint of a manifest's file name; absent for any other name.
std::optional<checkpoint_id> id_of_manifest(std::string_view file_name);
/// The checkpoint of a verdict's file name; absent for any other name.
std::optional<checkpoint_id> id_of_verdict(std::string_view file_name);
/// The checkpoint of a shard's file name; absent for any other name.
std::optional<checkpoint_id> id_of_shard(std::string_view file_name);
/// Whether `file_name` is a store's temporary name, used until the file is renamed.
bool is_temporary(std::string_view file_name);

}  // namespace troupe
