// The state of a store between calls. Only the store's own .cpp files include this.
#pragma once

#include "storage/checkpoints/checkpoint_reader.hpp"
#include "storage/checkpoints/state_file.hpp"

namespace troupe {

/// The state file as it is on disk.
struct state_reading {
  std::optional<checkpoint_state> state;  ///< Absent if the file is missing or cannot be parsed.
  std::string text;                       ///< Its text, to detect that another process has replaced it.
  std::vector<std::string> warnings;
};

struct checkpoint_store::impl {
  std::shared_ptr<file_system> fs;
  std::string directory;
  checkpoint_store_options options;
  std::shared_ptr<const directory_lock> lock;

  std::vector<checkpoint_id> list;  ///< The checkpoints in the state file, oldest first.
  retention_state retention;        ///< Retention state of listed and preserved checkpoints, from the state file.
  /// Not listed; to be deleted when no lease holds them. Values as in `retention`.
  std::map<checkpoint_id, int64_t> doomed;
  std::map<checkpoint_id, int> leases;
  std::optional<checkpoint_id> kept;  ///< The checkpoint that retention must not drop.
  std::shared_ptr<verified_checkpoint> verified = std::make_shared<verified_checkpoint>();
  /// A call failed while it replaced the state file, so either the old or the new list is on disk.
  bool list_uncertain = false;
  std::vector<std::string> pending_warnings;  ///< Warnings from opening the directory; the next commit reports them.

  std::string prefix(checkpoint_id id) const;
  /// Fails only with errors other than a missing or unparsable file.
  expected<state_reading> read_state() const;
  /// All checkpoints with a manifest, listed or not, by iteration and then by step: the likely order of their commits.
  expected<std::vector<checkpoint_id>> scan() const;
  /// Those of `scan` whose manifest is sound and whose files have the right sizes, in the same order.
  expected<std::vector<checkpoint_id>> scan_complete() const;

  expected<void> prepare_directory();
  expected<void> recover();
  /// Sets the save time of each listed checkpoint for which the state file has none.
  void recover_times();

  /// Error: failed_precondition if the directory is no longer the one that was locked.
  expected<void> check_owned() const;
  /// By checkpoint, `file_info::changed` of its manifest: the value for `retention_state::doomed`.
  std::map<checkpoint_id, int64_t> identify(std::span<const checkpoint_id> ids) const;
  /// Deletes what an earlier owner dropped but did not delete.
  void finish_deletions();
  /// Deletes the files of a failed save.
  void discard(checkpoint_id id);
  /// Reads `list` from the disk again, after a commit whose outcome was uncertain.
  expected<void> settle();
  expected<void> replace_list(std::vector<checkpoint_id> next, retention_state next_retention);
  expected<void> clear_list();
  expected<void> verify(const manifest& m) const;
  expected<bool> keep_committed(const checkpoint_content& content, std::vector<std::string>& warnings);
  expected<void> write_files(const checkpoint_content& content);
  /// Deletes a doomed checkpoint. Returns false while a reader holds it.
  expected<bool> remove_doomed(checkpoint_id id);
  /// The checkpoint that an evaluator in another process has named the best (judged.hpp). Its hold may go with that
  /// process before the books name it. Error: the file cannot be read now, and may name any.
  expected<std::optional<checkpoint_id>> judged_best() const;
  /// Deletes the doomed checkpoints that nobody holds, but not the one that was judged the best, unless a person has
  /// chosen it.
  void sweep(commit_result& result, std::span<const checkpoint_id> chosen = {});

  expected<std::unique_ptr<checkpoint_reader>> read(checkpoint_id id) const;
  /// Why the manifest cannot be read. Of one that is missing the error names the checkpoints that there are; it is
  /// failed_precondition if a TensorFlow checkpoint has that name.
  error why_not(checkpoint_id id, error unread) const;
  std::string names_of_whole() const;
  /// The newest checkpoint of a step, as `restore_step` chooses it; iteration 0 if there is none.
  expected<checkpoint_id> newest_of(int64_t step) const;
  /// A hint for errors: names the checkpoints that seem whole (`scan_complete`) but are not in `listed`, and says how
  /// to use one. Empty if there are none.
  std::string advise(const std::vector<checkpoint_id>& listed) const;
  /// Drops the warnings that a restore has reported already, so that the next commit does not repeat them.
  void forget_warnings(const std::vector<std::string>& told);
};

/// Whether an error means that a checkpoint is damaged. A checkpoint that cannot be read at the moment, or is of a
/// later version, is not damaged: it must not be skipped or overwritten.
inline bool says_damaged(const error& e) { return e.category == errc::data_loss || e.category == errc::not_found; }

}  // namespace troupe
