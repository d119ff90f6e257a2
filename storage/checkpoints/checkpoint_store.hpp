// Checkpoints of one model directory: a commit is everything that a job needs to resume, or nothing.
//
//   model.ckpt-<id>-0000k-of-0000n.safetensors   tensors, in shards of at most 1 GiB; any safetensors reader opens them
//   model.ckpt-<id>.manifest.json                files, sizes, CRC-32C of every tensor and of the manifest itself; blobs
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

/// Everything of one checkpoint. Tensors are read once, in order, and not kept.
struct checkpoint_content {
  checkpoint_id id;
  std::vector<named_tensor> tensors;
  std::map<std::string, std::string> blobs;       ///< Opaque bytes by name: iterator states, books, keys.
  std::map<std::string, std::string> properties;  ///< Text: plan fingerprint, numerics version, "finished".
  double wall_time = 0;                           ///< When it is saved, in seconds since the epoch; 0: unknown.
};

struct checkpoint_store_options {
  int keep_checkpoint_max = 5;                    ///< 0: nothing is ever deleted, and the list holds all.
  double keep_checkpoint_every_n_hours = 10000;   ///< One in every so many hours leaves the list and is kept for ever.
  int64_t shard_bytes_max = int64_t{1} << 30;
  bool read_only = false;                         ///< Takes no lock, writes nothing.
};

struct commit_result {
  std::string prefix;                  ///< For a commit: "<dir>/model.ckpt-1200".
  std::vector<checkpoint_id> deleted;  ///< Those whose files were deleted.
  std::vector<checkpoint_id> held;     ///< Leased ones, deleted at a later commit.
  std::vector<std::string> warnings;   ///< Such as an old checkpoint that could not be deleted.
};

struct restored_checkpoint {
  checkpoint_content content;
  std::string prefix;
  std::vector<std::string> warnings;   ///< Damaged newer checkpoints that were skipped, each with its reason; a damaged verdict.
  std::shared_ptr<file_hold> lease;    ///< While it lives, no process that respects leases deletes the files.
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
  double wall_time = 0;                ///< As in the content; 0 also where an earlier version wrote it.
};

class checkpoint_reader;

class checkpoint_store {
 public:
  /// Creates the directory if missing, locks it, reads the state file, removes a dead writer's temporary files, and the
  /// checkpoints that it had dropped and could not delete. Passes the lock to `claim`, which may be null.
  /// failed_precondition: the path is a file, is not writable, or another process owns it.
  static expected<std::unique_ptr<checkpoint_store>> open(std::shared_ptr<file_system> fs, std::string directory,
                                                          checkpoint_store_options options = {},
                                                          const std::shared_ptr<directory_claim>& claim = nullptr);
  ~checkpoint_store();

  /// Writes, syncs, renames, syncs the directory; then lists the checkpoint and deletes those that retention drops. One
  /// that is already committed and whole is only verified and moved to the end of the list; the same step of another
  /// iteration is another checkpoint. On error nothing listed has changed. failed_precondition: the directory was removed
  /// or replaced since it was opened; then nothing is written or deleted.
  expected<commit_result> commit(const checkpoint_content& content);

  /// The newest whole checkpoint: the one that the state file names, else the next older whole one with a warning, else
  /// (only when the state file is missing or unreadable) one found by a scan. not_found when the directory holds none;
  /// data_loss when every one is damaged, naming each, and unlisted ones that are there.
  expected<restored_checkpoint> restore_newest() const;
  /// Restores one checkpoint, verifying every checksum. not_found, data_loss (file, tensor, offset).
  expected<restored_checkpoint> restore(checkpoint_id id) const;
  /// The same for the newest checkpoint of a step: by the state file's order; by iteration if none of them is listed.
  expected<restored_checkpoint> restore_step(int64_t step) const;
  /// The same checkpoints, opened to be read piece by piece. Damage of a tensor shows when it is read: then `read_newest` is asked again,
  /// and passes over those that are `damaged`, each with a warning that says how.
  expected<std::unique_ptr<checkpoint_reader>> read_newest(const std::map<checkpoint_id, error>& damaged = {}) const;
  expected<std::unique_ptr<checkpoint_reader>> read(checkpoint_id id) const;
  expected<std::unique_ptr<checkpoint_reader>> read_step(int64_t step) const;
  /// Reads the manifest alone, verifying its own checksum.
  expected<checkpoint_info> inspect(checkpoint_id id) const;
  /// The manifest of the checkpoint with which `restore_newest` would begin; one that is damaged is passed over for the next. It reads no
  /// tensor, whose damage shows when it is restored. not_found and data_loss as `restore_newest`, without the names.
  expected<checkpoint_info> inspect_newest() const;
  /// The checkpoints in the state file, oldest first.
  std::vector<checkpoint_id> listed() const;
  /// The newest according to the state file, if its manifest exists; absent otherwise.
  std::optional<checkpoint_id> newest() const;

  /// Adds properties to a committed checkpoint, as its evaluation has shown them: they take the place of those of the same name whenever it
  /// is read. Durable on return; a crash leaves the ones before. not_found: there is no such checkpoint.
  expected<void> add_verdict(checkpoint_id id, const std::map<std::string, std::string>& properties);
  /// Retention keeps this checkpoint beside the newest ones; absent: none. One that was dropped, and is still there as a lease holds it, is
  /// listed again.
  expected<void> keep(std::optional<checkpoint_id> best);

  /// Removes checkpoints from the list, whatever put them there, and deletes their files; `held` are those deleted once their
  /// readers are done. Fails before anything is changed: not_found naming one without any file or mention;
  /// failed_precondition for the newest, unless `newest_too`.
  expected<commit_result> remove(std::span<const checkpoint_id> ids, bool newest_too);

  /// While leased, a checkpoint's files are exempt from retention; their deletion is made up for at the next commit or
  /// release. This lease is for checkpoints that this process has yet to read: a reader, here or elsewhere, holds the
  /// lease of what it restores.
  void lease(checkpoint_id id);
  expected<void> release(checkpoint_id id);

 private:
  struct impl;
  explicit checkpoint_store(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// The variables in which a model and a checkpoint differ: missing, unexpected, or of another shape or dtype, giving
/// both. Empty when they agree.
std::vector<std::string> differences(std::span<const component> wanted, const checkpoint_info& found);

}  // namespace troupe
