// The state of a store between calls. For the files that implement it only.
#pragma once

#include "storage/checkpoints/checkpoint_reader.hpp"
#include "storage/checkpoints/state_file.hpp"

namespace troupe {

/// The current state file on disk.
struct state_reading {
  std::optional<checkpoint_state> state;  ///< Absent when the file is missing or cannot be understood.
  std::string text;                       ///< To detect that another process replaced it.
  std::vector<std::string> warnings;
};

struct checkpoint_store::impl {
  std::shared_ptr<file_system> fs;
  std::string directory;
  checkpoint_store_options options;
  std::shared_ptr<const directory_lock> lock;

  std::vector<checkpoint_id> list;  ///< Those in the state file, oldest first.
  retention_marks marks;            ///< The state file's marks for these and for those kept for ever.
  std::map<checkpoint_id, int64_t> doomed;  ///< No longer listed, to be deleted once no lease holds them; as in the marks.
  std::map<checkpoint_id, int> leases;
  std::optional<checkpoint_id> kept;  ///< Retention does not drop it.
  std::shared_ptr<verified_checkpoint> verified = std::make_shared<verified_checkpoint>();
  /// A call failed while the state file was being replaced: only the disk knows which list counts.
  bool list_uncertain = false;
  std::vector<std::string> pending_warnings;  ///< Found when opening, reported by the next commit.

  std::string prefix(checkpoint_id id) const;
  /// Returns any error other than a missing or unparsable file.
  expected<state_reading> read_state() const;
  /// Checkpoints that have a manifest, whatever the state file says, by iteration and then by step: the likeliest order
  /// of their commits.
  expected<std::vector<checkpoint_id>> scan() const;
  /// Those whose manifest is sound and whose files have their sizes, in the same order.
  expected<std::vector<checkpoint_id>> scan_complete() const;

  expected<void> prepare_directory();
  expected<void> recover();
  /// Fills in the save time of each listed checkpoint for which the state file has none.
  void recover_times();

  /// failed_precondition when the directory is no longer the one that was locked.
  expected<void> check_owned() const;
  /// The values of `retention_marks::doomed` for these.
  std::map<checkpoint_id, int64_t> identify(std::span<const checkpoint_id> ids) const;
  /// Deletes what an earlier owner dropped and could not delete.
  void finish_deletions();
  /// Deletes what a failed save has written.
  void discard(checkpoint_id id);
  /// Re-reads `list` from the disk after a commit whose outcome was unknown.
  expected<void> settle();
  expected<void> replace_list(std::vector<checkpoint_id> next, retention_marks next_marks);
  expected<void> clear_list();
  expected<void> verify(const manifest& m) const;
  expected<bool> keep_committed(const checkpoint_content& content, std::vector<std::string>& warnings);
  expected<void> write_files(const checkpoint_content& content);
  /// Deletes a doomed checkpoint; false while a reader holds it.
  expected<bool> remove_doomed(checkpoint_id id);
  void sweep(commit_result& result);

  expected<std::unique_ptr<checkpoint_reader>> read(checkpoint_id id) const;
  /// `missing`, or failed_precondition where TensorFlow's files have the checkpoint's name.
  error unless_foreign(checkpoint_id id, error missing) const;
  /// The newest checkpoint of a step, as `restore_step` says; iteration 0 if there is none.
  expected<checkpoint_id> newest_of(int64_t step) const;
  /// Names the checkpoints that seem whole (`scan_complete`) and are not `listed`, and how to choose one; empty where
  /// there is none.
  std::string advise(const std::vector<checkpoint_id>& listed) const;
  /// Drops warnings that a restore has reported, so that the next commit does not repeat them.
  void forget_warnings(const std::vector<std::string>& told);
};

/// Whether an error means that a checkpoint is broken. One that cannot be read now, or that a later version wrote, is
/// not: neither may be skipped or overwritten.
inline bool says_damaged(const error& e) {
  return e.category == errc::data_loss || e.category == errc::not_found;
}

}  // namespace troupe
