// Saves: the snapshots of a job, from their marks to their commits, and their books. Plain data.
#pragma once

#include "messages/snapshot.hpp"

#include <algorithm>
#include <set>

namespace troupe {

/// A save is pending from its mark until it is committed or has failed. Its books, the chief's own part, are sent at
/// once or wait until the reports of all earlier steps are in.
class saves {
 public:
  void start_from(const restored& x);

  // -- pending saves
  void place(int64_t step, bool books_wait);
  bool any() const noexcept { return !on_way_.empty(); }
  bool is_placed(int64_t step) const { return on_way_.contains(step); }
  /// The saves that are pending, or committed before all reports of earlier steps have arrived. They limit the horizon,
  /// so a slow outfeed does, too.
  size_t unreported() const noexcept { return on_way_.size() + held_.size(); }
  /// The first and the last pending save; there must be one.
  int64_t oldest() const { return *on_way_.begin(); }
  int64_t newest() const { return *on_way_.rbegin(); }
  std::vector<int64_t> steps() const { return {on_way_.begin(), on_way_.end()}; }
  /// Whether to wait for the oldest save: its state has been reached, or the job fails and has nothing else to wait
  /// for.
  bool is_awaited(int64_t reached, bool failing) const { return any() && (oldest() <= reached || failing); }

  // -- books
  /// Removes and returns the saves up to `step` whose books are waiting.
  std::vector<int64_t> take_books_up_to(int64_t step);
  /// The first save whose books wait and of which that holds.
  template <class Predicate>
  std::optional<int64_t> first_waiting_books(Predicate holds) const {
    const auto found = std::find_if(waiting_books_.begin(), waiting_books_.end(), holds);
    return found == waiting_books_.end() ? std::nullopt : std::optional{*found};
  }
  /// The summary writer, which passes books on, has died: marks the books of all pending saves to be sent again, which
  /// is harmless.
  void books_lost() { waiting_books_ = on_way_; }
  bool books_wait() const noexcept { return !waiting_books_.empty(); }

  // -- outcomes
  /// Commits are published in step order: a commit above `reached` is kept until all reports of earlier steps have
  /// arrived.
  void committed(const troupe::committed& x) { on_way_.erase(x.id.step), held_.emplace(x.id.step, x); }
  void failed(int64_t step) { on_way_.erase(step), given_up_.insert(step); }
  /// Removes and returns the next commit to publish, which becomes the newest. Absent if there is none up to `reached`.
  std::optional<troupe::committed> take_published(int64_t reached);
  bool any_held() const noexcept { return !held_.empty(); }
  /// The commits that have not been published.
  std::vector<checkpoint_id> held() const;
  /// The job ends: all commits count, even if reports of earlier steps are missing.
  void count_held();
  /// Whether no save of state `id.step` can follow: it is committed as `id`, or it has failed. A job that grows a model
  /// may have been restored from a commit of the same step in an earlier iteration.
  bool is_settled(checkpoint_id id) const {
    return last_commit_ == id || held_.contains(id.step) || given_up_.contains(id.step);
  }
  /// States above `step` will not be reached: their saves are neither awaited nor reported as missing.
  void cancel_above(int64_t step);
  void cancel_all();

  std::optional<checkpoint_id> last_commit() const noexcept { return last_commit_; }  ///< The newest one known.
  const std::string& prefix() const noexcept { return prefix_; }  ///< Of the newest commit; empty if there is none.

  // -- requests
  /// The user requests a save. Returns false if one is pending; then another save follows it.
  bool may_save_now();
  /// Whether another save was requested; true only once.
  bool take_wish() { return std::exchange(again_, false); }
  /// A save by time is due while another is pending, and is skipped. Returns true for the first skip during that save.
  bool is_first_skip();
  /// The oldest save has waited too long: whether to ask the writer for the missing part. True only once for each save.
  bool may_inquire() { return any() && !std::exchange(inquired_, true); }
  void begin_wait() { inquired_ = false; }

 private:
  std::set<int64_t> on_way_, given_up_, waiting_books_;
  std::map<int64_t, troupe::committed> held_;
  std::optional<checkpoint_id> last_commit_;
  std::string prefix_;
  std::optional<int64_t> skipped_for_;  ///< The pending save for which a skipped one was reported.
  bool again_ = false, inquired_ = false;
};

}  // namespace troupe
