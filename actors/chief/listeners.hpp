// Saving listeners: the facts that they have not answered, and what waits for their answers. Plain data.
#pragma once

#include "messages/snapshot.hpp"

#include <map>
#include <optional>
#include <utility>

namespace troupe {

/// Facts are identified by their numbers. Until listeners have answered, a save waits with its books and a commit with
/// its evaluation.
class listeners {
 public:
  void begin(bool any) { any_ = any; }
  bool any() const noexcept { return any_; }

  void hear_saving(uint64_t fact, int64_t step) { saves_at_listeners_.emplace(fact, step); }
  bool hear_any_saving() const noexcept { return !saves_at_listeners_.empty(); }
  void hear_commit(uint64_t fact, const committed& x) { commits_at_listeners_.emplace(fact, x); }
  bool hear_any_commit() const noexcept { return !commits_at_listeners_.empty(); }

  /// The listeners have returned from a fact. Returns the step whose books are sent now, or the commit that is offered
  /// to evaluations.
  std::optional<int64_t> heard_saving(uint64_t fact) {
    auto found = saves_at_listeners_.extract(fact);
    return found ? std::optional{found.mapped()} : std::nullopt;
  }
  std::optional<committed> heard_commit(uint64_t fact) {
    auto found = commits_at_listeners_.extract(fact);
    return found ? std::optional{std::move(found.mapped())} : std::nullopt;
  }
  /// Nothing waits for the listeners any more.
  std::map<uint64_t, int64_t> take_savings() { return std::exchange(saves_at_listeners_, {}); }
  std::map<uint64_t, committed> take_commits() { return std::exchange(commits_at_listeners_, {}); }
  void begin_attempt() { saves_at_listeners_.clear(), commits_at_listeners_.clear(); }

 private:
  bool any_ = false;
  std::map<uint64_t, int64_t> saves_at_listeners_;
  std::map<uint64_t, committed> commits_at_listeners_;
};

}  // namespace troupe
