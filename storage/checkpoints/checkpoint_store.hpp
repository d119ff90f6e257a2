// Checkpoints of one model directory: one commit of everything a job needs to go on, or nothing.
//
//   model.ckpt-<step>-0000k-of-0000n.safetensors   tensors, in shards of at most 1 GiB; any safetensors reader opens them
//   model.ckpt-<step>.manifest.json                files, sizes, CRC-32C of every tensor and of the manifest itself; blobs
//   checkpoint                                     TensorFlow's text state file; its rename is the commit
//
// A store is used by one thread at a time and owns nothing but its directory's lock. docs/checkpoint_format.md has the bytes.
#pragma once

#include "storage/files/directory_claim.hpp"

#include <troupe/dataset.hpp>

#include <map>

namespace troupe {

struct named_tensor {
  std::string name;
  tensor value;
};

/// Everything of one step. Tensors are read once, in order, and not kept.
struct checkpoint_content {
  int64_t step = 0;
  std::vector<named_tensor> tensors;
  std::map<std::string, std::string> blobs;       ///< Opaque bytes by name: iterator states, books, keys.
  std::map<std::string, std::string> properties;  ///< Text: plan fingerprint, numerics version, "finished".
  double wall_time = 0;                           ///< When it is saved, in seconds since the epoch; 0: nobody knows.
};

struct checkpoint_store_options {
  int keep_checkpoint_max = 5;                    ///< 0: nothing is ever deleted, and the list holds all.
  double keep_checkpoint_every_n_hours = 10000;   ///< One of every so many hours leaves the list and stays for ever.
  int64_t shard_bytes_max = int64_t{1} << 30;
  bool read_only = false;                         ///< Takes no lock, writes nothing.
};

struct commit_result {
  std::string prefix;                  ///< "<dir>/model.ckpt-1200"; of a commit.
  std::vector<int64_t> deleted;        ///< Steps whose files went.
  std::vector<int64_t> held;           ///< Steps that go at a later commit: somebody is reading them.
  std::vector<std::string> warnings;   ///< Such as an old checkpoint that could not be deleted.
};

struct restored_checkpoint {
  checkpoint_content content;
  std::string prefix;
  std::vector<std::string> warnings;   ///< Damaged newer checkpoints that were passed over, each with its reason.
  std::shared_ptr<file_hold> lease;    ///< While it lives, no process that keeps to the rules deletes the files.
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
  int64_t step = 0;
  std::string prefix;
  std::vector<stored_tensor_info> tensors;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
  double wall_time = 0;                ///< As that of the content; 0 also where an earlier version wrote it.
};

class checkpoint_store {
 public:
  /// Creates the directory when it is missing, locks it, reads the state file, removes temporary files of a dead writer and
  /// the checkpoints that it had dropped and could not delete. `claim` is told of the lock; it may be null.
  /// failed_precondition: the path is a file, is not writable, or another process owns it.
  static expected<std::unique_ptr<checkpoint_store>> open(std::shared_ptr<file_system> fs, std::string directory,
                                                          checkpoint_store_options options = {},
                                                          const std::shared_ptr<directory_claim>& claim = nullptr);
  ~checkpoint_store();

  /// Writes, syncs, renames, syncs the directory; then lists it, deletes what retention drops. A step that is already
  /// committed and whole is only verified and moved to the end of the list. On error nothing listed has changed.
  /// failed_precondition: the directory was removed or replaced since it was opened; then nothing is written or deleted.
  expected<commit_result> commit(const checkpoint_content& content);

  /// The newest whole checkpoint: what the state file names, else the next older whole one with a warning, else (only
  /// when the state file is missing or unreadable) what a scan finds. not_found when the directory holds none;
  /// data_loss when it holds some and every one is damaged, naming each, and those that lie there and are not listed.
  expected<restored_checkpoint> restore_newest() const;
  /// One step, every checksum verified. not_found, data_loss (file, tensor, offset).
  expected<restored_checkpoint> restore(int64_t step) const;
  /// The manifest alone, its own checksum verified.
  expected<checkpoint_info> inspect(int64_t step) const;
  /// Steps in the state file, oldest first.
  std::vector<int64_t> listed() const;
  /// The step the state file names as newest, verified to have its manifest; absent otherwise.
  std::optional<int64_t> newest_step() const;

  /// Takes steps from the list, however they got there, and deletes their files; `held` are those that go when their
  /// readers are done. Before anything is changed: not_found naming a step of which there is no file and no mention;
  /// failed_precondition for the newest, unless `newest_too`.
  expected<commit_result> remove(std::span<const int64_t> steps, bool newest_too);

  /// While leased, retention leaves a step's files alone; its deletion is made up for at the next commit or release. For
  /// what this process has yet to read: whoever reads, here or in another process, holds the lease of what is restored.
  void lease(int64_t step);
  expected<void> release(int64_t step);

 private:
  struct impl;
  explicit checkpoint_store(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// Every variable that differs between what a model wants and what a checkpoint has: missing, unexpected, or of another
/// shape or dtype, with both. Empty when they agree.
std::vector<std::string> differences(std::span<const component> wanted, const checkpoint_info& found);

}  // namespace troupe
