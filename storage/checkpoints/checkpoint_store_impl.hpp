// The state of a store between calls. For the files that implement it only.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"
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

  std::vector<int64_t> list;       ///< The steps in the state file, oldest first.
  retention_marks marks;           ///< The state file's marks for these and for those kept for ever.
  std::map<int64_t, int64_t> doomed;  ///< No longer listed, to be deleted once no lease holds them; as in the marks.
  std::map<int64_t, int> leases;
  /// A call failed while the state file was being replaced: only the disk knows which list counts.
  bool list_uncertain = false;
  std::vector<std::string> pending_warnings;  ///< Found when opening, reported by the next commit.

  std::string prefix(int64_t step) const;
  /// Returns any error other than a missing or unparsable file.
  expected<state_reading> read_state() const;
  /// Steps that have a manifest, ascending, whatever the state file says.
  expected<std::vector<int64_t>> scan() const;
  /// Steps whose manifest is sound and whose files have their sizes.
  expected<std::vector<int64_t>> scan_complete() const;

  expected<void> prepare_directory();
  expected<void> recover();
  /// Fills in the save time of each listed step for which the state file has none.
  void recover_times();

  /// failed_precondition when the directory is no longer the one that was locked.
  expected<void> check_owned() const;
  /// The values of `retention_marks::doomed` for these steps.
  std::map<int64_t, int64_t> identify(std::span<const int64_t> steps) const;
  /// Deletes the steps that an earlier owner dropped and could not delete.
  void finish_deletions();
  /// Deletes what a failed save has written.
  void discard(int64_t step);
  /// Re-reads `list` from the disk after a commit whose outcome was unknown.
  expected<void> settle();
  expected<void> replace_list(std::vector<int64_t> next, retention_marks next_marks);
  expected<void> clear_list();
  expected<bool> keep_committed(const checkpoint_content& content, std::vector<std::string>& warnings);
  expected<void> write_files(const checkpoint_content& content);
  /// Deletes a doomed step; false while a reader holds it.
  expected<bool> remove_doomed(int64_t step);
  void sweep(commit_result& result);

  expected<restored_checkpoint> load(int64_t step) const;
  /// Names the checkpoints that seem whole (`scan_complete`) and are not `listed`, and how to choose one; empty where
  /// there is none.
  std::string advise(const std::vector<int64_t>& listed) const;
  /// Drops warnings that a restore has reported, so that the next commit does not repeat them.
  void forget_warnings(const std::vector<std::string>& told);
};

/// Whether an error means that a checkpoint is broken. One that cannot be read now, or that a later version wrote, is
/// not: neither may be skipped or overwritten.
inline bool says_damaged(const error& e) {
  return e.category == errc::data_loss || e.category == errc::not_found;
}

}  // namespace troupe
