// Writes, reads, verifies and removes the files of one checkpoint, independently of the state file.
#pragma once

#include "storage/checkpoints/manifest.hpp"

#include <set>

namespace troupe {

/// Replaces the files of this checkpoint with `content`: first the shards, then the manifest. On return everything is
/// durable and no temporary file is left. After an error some files may remain; `remove_checkpoint_files` deletes them.
/// Renames nothing once `lock` is no longer the lock of the directory.
expected<manifest> write_checkpoint_files(file_system& fs, const std::string& directory, const directory_lock& lock,
                                          const checkpoint_content& content, int64_t shard_bytes_max);

/// Reads the manifest. The properties of its verdict replace its own properties of the same name. If the verdict is
/// damaged it is ignored, and the property `damaged_verdict_property` gives the reason. Errors: not_found if there is
/// no manifest; else as for `parse_manifest`.
expected<manifest> load_manifest(file_system& fs, const std::string& directory, checkpoint_id id);
inline constexpr std::string_view damaged_verdict_property = "damaged_verdict";
/// Reads the verdict: properties that follow from evaluations after the commit. They have their own file, since readers
/// may hold the manifest. Errors: not_found, data_loss as for a manifest.
expected<std::map<std::string, std::string>> load_verdict(file_system& fs, const std::string& directory,
                                                          checkpoint_id id);
/// Replaces the verdict of a committed checkpoint with these properties. Durable on return.
expected<void> write_verdict(file_system& fs, const std::string& directory, const directory_lock& lock,
                             checkpoint_id id, const std::map<std::string, std::string>& properties);
/// Open files by file name.
using checkpoint_files = std::map<std::string, std::unique_ptr<readable_file>>;
/// Opens every file that the manifest names, and checks its size and header. Error: data_loss naming the file.
expected<checkpoint_files> open_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m);
/// Compares `crc32c` with the checksum that the manifest has for the tensor. Error: data_loss naming file, tensor and
/// offset.
expected<void> check_checksum(const std::string& path, const stored_tensor_info& t, uint32_t crc32c);
/// Verifies every byte of the files that `m` names, and keeps none in memory.
expected<void> verify_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m);

/// The size and `file_info::changed` of a file. `stamp_checkpoint_files` returns them for the manifest and each shard,
/// by name. While they are the same, verified files are not read again: the bytes would only come from the page cache.
struct file_stamp {
  int64_t size = 0, changed = 0;
  bool operator==(const file_stamp&) const = default;
};
expected<std::map<std::string, file_stamp>> stamp_checkpoint_files(file_system& fs, const std::string& directory,
                                                                   const manifest& m);

/// All checkpoints that have a manifest or a shard, complete or not.
expected<std::set<checkpoint_id>> ids_with_files(file_system& fs, const std::string& directory);

/// Removes the manifest first, so that no reader takes the rest for a whole checkpoint; then shards and temporary
/// files; then syncs. Missing files are not an error.
expected<void> remove_checkpoint_files(file_system& fs, const std::string& directory, checkpoint_id id);
/// The same, unless a reader holds a lease on the manifest: then it returns false and does nothing.
expected<bool> remove_unless_leased(file_system& fs, const std::string& directory, checkpoint_id id);

}  // namespace troupe
