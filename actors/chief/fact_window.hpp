// The window of facts: how many facts slow hooks may be behind. It bounds the mailbox of the callbacks and the wait for
// their last call.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

namespace troupe {

/// Counts the facts that the callbacks have not answered, and the watches whose facts have not been sent. Hooks may be
/// behind by as many facts as they handle in half a second, from 1 to `facts_max`. While their speed is unknown the
/// limit is two facts, and one more for each fact that they have handled.
class fact_window {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  static constexpr int64_t facts_max = 256;

  /// A watch of state `step` was marked; a fact will follow.
  void marked(int64_t step) { watches_.insert(step); }
  /// States above `step` will not be reached.
  void ends_at(int64_t step) { watches_.erase(watches_.upper_bound(step), watches_.end()); }
  /// Forgets the watches of the previous attempt, whose facts will not be sent.
  void begin_attempt() { watches_.clear(); }
  /// A fact is sent; `watch` is the state that it shows, if any. Returns the number of the fact.
  uint64_t told(nanoseconds now, std::optional<int64_t> watch = {});
  /// The hooks have returned from all facts up to `number`.
  void answered(nanoseconds now, uint64_t number);

  /// Whether a watch was marked whose fact has not been sent.
  bool expects() const;
  int64_t unanswered() const { return static_cast<int64_t>(told_.size()); }
  /// The window: how many facts the hooks may be behind.
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
  std::set<int64_t> watches_;  ///< States of watches that were marked and not answered.
  uint64_t number_ = 0;
  int64_t dealt_with_ = 0;
  nanoseconds busy_since_{0};  ///< When the callbacks became busy or last answered.
  double seconds_per_fact_ = 0;
};

}  // namespace troupe
