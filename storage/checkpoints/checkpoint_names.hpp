// Converts between checkpoints and the names of their files.
#pragma once

#include "words/checkpoint_id.hpp"

namespace troupe {

inline constexpr std::string_view state_file_name = "checkpoint";

/// The name of the manifest: "model.ckpt-1200.manifest.json".
std::string manifest_name(checkpoint_id id);
/// The name of the verdict: "model.ckpt-1200.verdict.json".
std::string verdict_name(checkpoint_id id);
/// The name of a shard: "model.ckpt-1200-00000-of-00002.safetensors". `index` counts from 0.
std::string shard_name(checkpoint_id id, int64_t index, int64_t count);

/// The checkpoint of a manifest's file name; absent for any other name.
std::optional<checkpoint_id> id_of_manifest(std::string_view file_name);
/// The checkpoint of a verdict's file name; absent for any other name.
std::optional<checkpoint_id> id_of_verdict(std::string_view file_name);
/// The checkpoint of a shard's file name; absent for any other name.
std::optional<checkpoint_id> id_of_shard(std::string_view file_name);
/// Whether `file_name` is a temporary name of a store: files have one until they are complete.
bool is_temporary(std::string_view file_name);

}  // namespace troupe
