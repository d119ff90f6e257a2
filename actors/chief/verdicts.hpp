// Verdicts: properties of a checkpoint that become known after its commit, and that the writer stores beside it. Plain
// data.
#pragma once

#include <troupe/checkpoint_id.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace troupe {

class verdicts {
 public:
  /// The books of a save were sent, with this best checkpoint.
  void books_name(int64_t step, std::optional<checkpoint_id> best) { best_in_books_.try_emplace(step, best); }
  /// A save is committed: whether its books name a best checkpoint other than `best`. Ask once for each save.
  bool is_outdated(int64_t step, std::optional<checkpoint_id> best) {
    const auto named = best_in_books_.extract(step);
    return named && named.mapped() != best;
  }

  void sent() { ++on_way_; }
  /// A verdict is durable. Returns true if all are.
  bool kept() { return --on_way_ <= 0; }
  bool any_on_way() const noexcept { return on_way_ > 0; }
  /// Grants nothing before all verdicts are durable.
  void hold() { holds_ = true; }
  bool holds() const noexcept { return holds_; }
  void let_go() { holds_ = false; }

  /// The last checkpoint says that a rule has ended the job, in its books or by a verdict.
  void end_is_said() { end_said_ = true; }
  bool says_end() const noexcept { return end_said_; }
  /// The checkpoint of `step` says that the job has finished there, or its books do that were sent.
  void finish_is_said(int64_t step) { finish_said_ = step; }
  void books_say_finish(int64_t step) {
    if (doubted_ != step)
      finish_said_ = step;
  }
  /// Other books of that state were sent before, and it may be committed with those.
  void doubt_books_of(int64_t step) { doubted_ = step; }
  bool says_finish(int64_t step) const noexcept { return finish_said_ == step; }

 private:
  std::map<int64_t, std::optional<checkpoint_id>> best_in_books_;
  int64_t on_way_ = 0;
  bool holds_ = false, end_said_ = false;
  std::optional<int64_t> finish_said_, doubted_;
};

}  // namespace troupe
