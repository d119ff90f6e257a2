// Checkpoints of one model directory: a commit is everything that a job needs to resume, or nothing.
//
//   model.ckpt-<id>-0000k-of-0000n.safetensors   tensors, in shards of at most 1 GiB; any safetensors reader opens them
//   model.ckpt-<id>.manifest.json                files, sizes, CRC-32C of every tensor and of the manifest; blobs
//   model.ckpt-<id>.verdict.json                 what evaluations found of it after the commit; may be absent
//   checkpoint                                   TensorFlow's text state file; its rename is the commit
//
// A store is used by one thread at a time and owns nothing but its directory's lock. Byte layout:
// docs/checkpoint_format.md.
#pragma once

#include "storage/files/directory_claim.hpp"

#include <troupe/checkpoint_id.hpp>
#include <troupe/dataset.hpp>

#include <map>

namespace troupe {

struct named_tensor {
  std::string name;
  tensor value;
};

/// The whole content of one checkpoint. Tensors are read once, in order, and not kept.
struct checkpoint_content {
  checkpoint_id id;
  std::vector<named_tensor> tensors;
  std::map<std::string, std::string> blobs;       ///< Opaque bytes by name: iterator states, books, keys.
  std::map<std::string, std::string> properties;  ///< Text: plan fingerprint, numerics version, "finished".
  double wall_time = 0;                           ///< When the state is saved, in seconds since the epoch; 0: unknown.
};

struct checkpoint_store_options {
  int keep_checkpoint_max = 5;  ///< 0: nothing is ever deleted, and the list holds all.
  /// One checkpoint in this many hours is kept forever when it leaves the list.
  double keep_checkpoint_every_n_hours = 10000;
  int64_t shard_bytes_max = int64_t{1} << 30;
  bool read_only = false;  ///< Takes no lock and writes nothing.
};

struct commit_result {
  std::string prefix;                  ///< For a commit: "<dir>/model.ckpt-1200".
  std::vector<checkpoint_id> deleted;  ///< Checkpoints whose files were deleted.
  /// Checkpoints that will be deleted at a later commit, since readers hold leases on them, or an evaluator in another
  /// process has named them the best.
  std::vector<checkpoint_id> held;
  std::vector<std::string> warnings;  ///< For example that an old checkpoint could not be deleted.
};

struct restored_checkpoint {
  checkpoint_content content;
  std::string prefix;
  /// One for each damaged newer checkpoint that was skipped, with the reason; one for a damaged verdict.
  std::vector<std::string> warnings;
  std::shared_ptr<file_hold> lease;  ///< While it exists, no process that respects leases deletes the files.
};

struct stored_tensor_info {
  std::string name;
  dtype type = dtype::float32;
  shape dims;
  uint32_t crc32c = 0;
  std::string file;
  int64_t offset = 0, bytes = 0;
};

struct checkpoint_info {
  checkpoint_id id;
  std::string prefix;
  std::vector<stored_tensor_info> tensors;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
  double wall_time = 0;  ///< As in `checkpoint_content`; 0 also for checkpoints of earlier versions.
};

class checkpoint_reader;

class checkpoint_store {
 public:
  /// Creates the directory if it is missing, locks it and reads the state file. Removes a dead writer's temporary
  /// files, and checkpoints that it had dropped but not deleted. Passes the lock to `claim`, which may be null. Error:
  /// failed_precondition: the path is a file, is not writable, or another process owns it.
  static expected<std::unique_ptr<checkpoint_store>> open(std::shared_ptr<file_system> fs, std::string directory,
                                                          checkpoint_store_options options = {},
                                                          const std::shared_ptr<directory_claim>& claim = nullptr);
  ~checkpoint_store();

  /// Writes and syncs the files, renames them and syncs the directory; then lists the checkpoint and deletes those that
  /// retention drops. If the checkpoint is already committed and whole, it is only verified and moved to the end of the
  /// list. The same step of another iteration is another checkpoint. On error, nothing that is listed has changed.
  /// Error: failed_precondition if the directory was removed or replaced since it was opened; then nothing is written
  /// or deleted.
  expected<commit_result> commit(const checkpoint_content& content);

  /// The newest whole checkpoint: the one that the state file names; if it is damaged, the next older whole one, with a
  /// warning. A scan looks for checkpoints only if the state file is missing or unreadable. Errors: not_found if the
  /// directory has no checkpoint; data_loss if all are damaged, naming each of them and any that are not listed.
  expected<restored_checkpoint> restore_newest() const;
  /// Restores one checkpoint and verifies every checksum. Errors: not_found; data_loss (file, tensor, offset).
  expected<restored_checkpoint> restore(checkpoint_id id) const;
  /// The same for the newest checkpoint of a step: the last one in the state file, or the one of the highest iteration
  /// if none is listed.
  expected<restored_checkpoint> restore_step(int64_t step) const;
  /// Like the three functions above, but the checkpoint is read piece by piece. Damage of a tensor shows only when it
  /// is read. The caller then calls `read_newest` again with the `damaged` checkpoints and their errors; it skips them,
  /// with a warning for each.
  expected<std::unique_ptr<checkpoint_reader>> read_newest(const std::map<checkpoint_id, error>& damaged = {}) const;
  expected<std::unique_ptr<checkpoint_reader>> read(checkpoint_id id) const;
  expected<std::unique_ptr<checkpoint_reader>> read_step(int64_t step) const;
  /// Reads only the manifest, and verifies the manifest's checksum.
  expected<checkpoint_info> inspect(checkpoint_id id) const;
  /// The manifest of the checkpoint that `restore_newest` would try first; a damaged manifest is skipped. Reads no
  /// tensor, so damage of a tensor shows only at the restore. Errors: not_found and data_loss as for `restore_newest`,
  /// without the names.
  expected<checkpoint_info> inspect_newest() const;
  /// The checkpoints in the state file, oldest first.
  std::vector<checkpoint_id> listed() const;
  /// The newest checkpoint according to the state file; absent if it has no manifest.
  std::optional<checkpoint_id> newest() const;

  /// Adds properties that follow from an evaluation to a committed checkpoint. When the checkpoint is read, they
  /// replace properties of the same name. Durable on return; after a crash the earlier ones may remain. Error:
  /// not_found if there is no such checkpoint.
  expected<void> add_verdict(checkpoint_id id, const std::map<std::string, std::string>& properties);
  /// Makes retention keep `best` beside the newest checkpoints; absent: none. If `best` was dropped, but a lease has
  /// kept its files, it is listed again.
  expected<void> keep(std::optional<checkpoint_id> best);

  /// Removes checkpoints from the list, whether retention or a person put them there, and deletes their files. Those in
  /// `held` are deleted when their readers have finished. Errors, before anything is changed: not_found naming a
  /// checkpoint without any file or entry; failed_precondition for the newest, unless `newest_too`.
  expected<commit_result> remove(std::span<const checkpoint_id> ids, bool newest_too);

  /// While leased, a checkpoint's files are not deleted; the deletion follows at the next commit or release. This lease
  /// is for checkpoints that this process will read later: a reader holds its own lease on what it restores.
  void lease(checkpoint_id id);
  expected<void> release(checkpoint_id id);

 private:
  struct impl;
  explicit checkpoint_store(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// The variables in which a model and a checkpoint differ: one text for each that is missing, unexpected, or has
/// another shape or dtype. Empty if they agree.
std::vector<std::string> differences(std::span<const component> wanted, const checkpoint_info& found);

}  // namespace troupe
