// The window of facts: how far the hooks may be behind, so that neither their mailbox nor their last call waits without
// bound for hooks that take their time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

namespace troupe {

/// Counts what the chief has told the callbacks and has not heard back, and which watches are still to be told. Hooks may be
/// behind by so many facts as they deal with in half a second, from 1 to `facts_max`; at first, when it is not known how quick
/// they are, by two and one more for each that they have dealt with.
class fact_window {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  static constexpr int64_t facts_max = 256;

  /// A watch of state `step` was marked: it will be a fact.
  void marked(int64_t step) { watches_.insert(step); }
  /// Of the states above `step` none will be reached.
  void ends_at(int64_t step) { watches_.erase(watches_.upper_bound(step), watches_.end()); }
  /// A fact is told; `watch` is its state when it shows one. The number that it has to carry.
  uint64_t told(nanoseconds now, std::optional<int64_t> watch = {});
  /// All facts up to `number` have been dealt with.
  void answered(nanoseconds now, uint64_t number);

  /// Whether a watch was marked whose fact is still to be told.
  bool expects() const;
  int64_t unanswered() const { return static_cast<int64_t>(told_.size()); }
  /// How many may be behind.
  int64_t size() const;
  /// How many more watches may be marked.
  int64_t room() const;
  bool full() const { return room() == 0; }

 private:
  struct entry {
    uint64_t number = 0;
    std::optional<int64_t> watch;
  };
  std::deque<entry> told_;
  std::set<int64_t> watches_;   ///< Marked, not answered.
  uint64_t number_ = 0;
  int64_t dealt_with_ = 0;
  nanoseconds busy_since_{0};   ///< Since then the callbacks have had something to do.
  double seconds_per_fact_ = 0;
};

}  // namespace troupe
