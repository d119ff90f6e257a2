// The files of one checkpoint: written, read, verified and removed, whatever the state file says of them.
#pragma once

#include "storage/checkpoints/manifest.hpp"

#include <set>

namespace troupe {

/// Replaces what is there of this step by `content`: shards first, then the manifest; when it returns, all of it is
/// durable and no temporary file is left. On error some files may be; `remove_checkpoint_files` takes them away. No file gets its
/// name once `lock` is no longer that of the directory.
expected<manifest> write_checkpoint_files(file_system& fs, const std::string& directory, const directory_lock& lock,
                                          const checkpoint_content& content, int64_t shard_bytes_max);

/// not_found when there is none, else as `parse_manifest`.
expected<manifest> load_manifest(file_system& fs, const std::string& directory, int64_t step);
/// Everything the manifest names, each checksum verified. data_loss naming file, tensor and offset.
expected<checkpoint_content> load_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m);
/// The same without keeping a byte.
expected<void> verify_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m);

/// Those with a manifest or a shard, whole or not.
expected<std::set<int64_t>> steps_with_files(file_system& fs, const std::string& directory);

/// Manifest first, so that nobody takes for whole what is going; then shards and temporary files; then syncs. What is
/// gone already is no error.
expected<void> remove_checkpoint_files(file_system& fs, const std::string& directory, int64_t step);
/// The same of a step that nobody holds the manifest of. False, and nothing has happened, while somebody does.
expected<bool> remove_unless_leased(file_system& fs, const std::string& directory, int64_t step);

}  // namespace troupe
