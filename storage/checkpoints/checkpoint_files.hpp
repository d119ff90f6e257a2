// The files of one checkpoint: written, read, verified and removed, independently of the state file.
#pragma once

#include "storage/checkpoints/manifest.hpp"

#include <set>

namespace troupe {

/// Replaces the files of this checkpoint by `content`: shards first, then the manifest; on return all of it is durable and no
/// temporary file is left. On error some files may remain; `remove_checkpoint_files` deletes them. No file is renamed
/// into place once `lock` is no longer that of the directory.
expected<manifest> write_checkpoint_files(file_system& fs, const std::string& directory, const directory_lock& lock,
                                          const checkpoint_content& content, int64_t shard_bytes_max);

/// With the properties of the verdict, which take the place of its own. not_found when there is none, else as `parse_manifest`. A verdict
/// that is damaged is left out, and the property `damaged_verdict_property` says why.
expected<manifest> load_manifest(file_system& fs, const std::string& directory, checkpoint_id id);
inline constexpr std::string_view damaged_verdict_property = "damaged_verdict";
/// Properties that were found after the commit: an evaluation's consequences. They have a file of their own, as readers may hold the manifest.
/// not_found, data_loss as for a manifest.
expected<std::map<std::string, std::string>> load_verdict(file_system& fs, const std::string& directory, checkpoint_id id);
/// Replaces the verdict of a committed checkpoint by these properties; durable on return.
expected<void> write_verdict(file_system& fs, const std::string& directory, const directory_lock& lock, checkpoint_id id,
                             const std::map<std::string, std::string>& properties);
/// Open files by name.
using checkpoint_files = std::map<std::string, std::unique_ptr<readable_file>>;
/// Opens every file that the manifest names, and checks its size and header. data_loss naming the file.
expected<checkpoint_files> open_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m);
/// data_loss naming file, tensor and offset, where the tensor's bytes have another checksum than this one.
expected<void> check_checksum(const std::string& path, const stored_tensor_info& t, uint32_t crc32c);
/// Verifies every byte of these files, without keeping one.
expected<void> verify_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m);

/// The size and `file_info::changed` of the manifest and of each shard, by name. While they stay the same, files that were verified need not be
/// read again: the bytes would come from the page cache.
struct file_mark {
  int64_t size = 0, changed = 0;
  bool operator==(const file_mark&) const = default;
};
expected<std::map<std::string, file_mark>> mark_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m);

/// Checkpoints with a manifest or a shard, whole or not.
expected<std::set<checkpoint_id>> ids_with_files(file_system& fs, const std::string& directory);

/// Removes the manifest first, so that no reader takes the rest for whole; then shards and temporary files; then syncs.
/// Files that are already gone are no error.
expected<void> remove_checkpoint_files(file_system& fs, const std::string& directory, checkpoint_id id);
/// The same, unless somebody holds a lease on its manifest: then returns false and does nothing.
expected<bool> remove_unless_leased(file_system& fs, const std::string& directory, checkpoint_id id);

}  // namespace troupe
