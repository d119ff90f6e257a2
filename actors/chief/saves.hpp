// Saves: the snapshots of a job, from the mark to the commit, and the books that go into them. Plain data.
#pragma once

#include "messages/snapshot.hpp"

#include <set>

namespace troupe {

/// A save is on its way from its mark until it is committed or has failed. Its books, the chief's own part, are sent at once or wait
/// until the reports below it are in.
class saves {
 public:
  void start_from(const restored& x);

  // -- on their way
  void place(int64_t step, bool books_wait);
  bool any() const noexcept { return !on_way_.empty(); }
  bool is_placed(int64_t step) const { return on_way_.contains(step); }
  size_t count() const noexcept { return on_way_.size(); }
  /// The least and the greatest of them; only where there are any.
  int64_t oldest() const { return *on_way_.begin(); }
  int64_t newest() const { return *on_way_.rbegin(); }
  std::vector<int64_t> steps() const { return {on_way_.begin(), on_way_.end()}; }
  /// Whether the oldest is to be waited for: its state is reached, or the job fails and nothing else is waited for.
  bool is_awaited(int64_t reached, bool failing) const { return any() && (oldest() <= reached || failing); }

  // -- books
  /// The saves up to `step` whose books have waited; they wait no more.
  std::vector<int64_t> take_books_up_to(int64_t step);
  /// Who passes books on has died: those of all saves on their way are sent again, which does no harm.
  void books_lost() { waiting_books_ = on_way_; }
  void forget_books() { waiting_books_.clear(); }

  // -- outcomes
  /// Facts in step order: a commit above `reached` is kept until the reports below it are in.
  void committed(const troupe::committed& x) { on_way_.erase(x.step), held_.emplace(x.step, x); }
  void failed(int64_t step) { on_way_.erase(step), given_up_.insert(step); }
  /// The next commit to publish; it is the newest known then. Absent: none up to `reached`.
  std::optional<troupe::committed> take_published(int64_t reached);
  bool any_held() const noexcept { return !held_.empty(); }
  /// The job ends: what was committed counts, though the reports below it did not come.
  void count_held();
  /// Whether there is nothing to ask for at `step`: it is committed, or never will be.
  bool is_settled(int64_t step) const { return committed_at_ == step || held_.contains(step) || given_up_.contains(step); }
  /// The states above `step` will not be reached: neither awaited nor missed.
  void cancel_above(int64_t step);
  void cancel_all();

  std::optional<int64_t> committed_at() const noexcept { return committed_at_; }
  const std::string& prefix() const noexcept { return prefix_; }  ///< Of the newest commit; empty: none.

  // -- wishes
  /// The user wants one: false if one is on its way, after which another is made.
  bool may_save_now();
  /// Whether another was wished for; once.
  bool take_wish() { return std::exchange(again_, false); }
  /// A save by time is due while one is on its way, and is left out: whether that is news.
  bool is_first_skip();
  /// The save on its way has waited too long: whether the writer is to be asked which part it lacks, once a save.
  bool may_inquire() { return any() && !std::exchange(inquired_, true); }
  void begin_wait() { inquired_ = false; }

 private:
  std::set<int64_t> on_way_, given_up_, waiting_books_;
  std::map<int64_t, troupe::committed> held_;
  std::optional<int64_t> committed_at_;
  std::string prefix_;
  std::optional<int64_t> skipped_for_;  ///< The save on its way for which a skipped one was reported.
  bool again_ = false, inquired_ = false;
};

}  // namespace troupe
