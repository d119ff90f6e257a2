// What a store remembers between calls. Shared by the files that implement it, and by nobody else.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/checkpoints/state_file.hpp"

namespace troupe {

/// The state file as it is on disk now.
struct state_reading {
  std::optional<checkpoint_state> state;  ///< Absent when the file is missing or cannot be understood.
  std::string text;                       ///< To see whether another process has replaced it since.
  std::vector<std::string> warnings;
};

struct checkpoint_store::impl {
  std::shared_ptr<file_system> fs;
  std::string directory;
  checkpoint_store_options options;
  std::shared_ptr<const directory_lock> lock;

  std::vector<int64_t> list;       ///< What the state file lists, oldest first.
  retention_marks marks;           ///< What the state file remembers of them and of those that are kept for ever.
  std::map<int64_t, int64_t> doomed;  ///< No longer listed, to be deleted once no lease holds them; as the marks have it.
  std::map<int64_t, int> leases;
  /// The state file was being replaced when a call failed: the disk alone knows which one counts.
  bool list_uncertain = false;
  std::vector<std::string> pending_warnings;  ///< Found when opening, told by the next commit.

  std::string prefix(int64_t step) const;
  /// Any other error than a missing or senseless file is returned.
  expected<state_reading> read_state() const;
  /// Steps that have a manifest, ascending, whatever the state file says.
  expected<std::vector<int64_t>> scan() const;
  /// Steps whose manifest is sound and whose files have their sizes.
  expected<std::vector<int64_t>> scan_complete() const;

  expected<void> prepare_directory();
  expected<void> recover();
  /// Fills in when each listed step was saved, where the state file does not say.
  void recover_times();

  /// failed_precondition when the directory is no longer the one that was locked.
  expected<void> check_owned() const;
  /// As `retention_marks::doomed` has them.
  std::map<int64_t, int64_t> identify(std::span<const int64_t> steps) const;
  /// Deletes what an earlier owner dropped and could not delete.
  void finish_deletions();
  /// Takes back what a failed save has written.
  void discard(int64_t step);
  /// Makes `list` what the disk says, after a commit of which the outcome was not known.
  expected<void> settle();
  expected<void> replace_list(std::vector<int64_t> next, retention_marks next_marks);
  expected<void> clear_list();
  expected<bool> keep_committed(const checkpoint_content& content, std::vector<std::string>& warnings);
  expected<void> write_files(const checkpoint_content& content);
  /// Deletes a doomed step; false while somebody reads it.
  expected<bool> remove_doomed(int64_t step);
  void sweep(commit_result& result);

  expected<restored_checkpoint> load(int64_t step) const;
  /// Which checkpoints seem whole (`scan_complete`) and are not `listed`, and how to choose one; empty where there is none.
  std::string advise(const std::vector<int64_t>& listed) const;
  /// What a restore has told is not told again by the next commit.
  void forget_warnings(const std::vector<std::string>& told);
};

/// Whether an error says that a checkpoint is broken. One that could not be read now, or that a later version wrote, is
/// not: neither may be passed over or written anew.
inline bool says_damaged(const error& e) {
  return e.category == errc::data_loss || e.category == errc::not_found;
}

}  // namespace troupe
