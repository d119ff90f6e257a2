// The input of a recipe's job: a dataset whose calls fail, throw or return nonsense where a trouble says so.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

#include <troupe/dataset_iterator.hpp>

#include <functional>

namespace troupe::test::random_faults {

/// Shared by all iterators of a process, which run on one thread. A trouble is armed at its time.
class input_troubles {
 public:
  void arm(const trouble& t) { armed_.push_back({t}); }
  /// Troubles that have happened, in order.
  const std::vector<trouble>& happened() const { return happened_; }

  /// A call at a place: an error or an exception where one is due.
  expected<void> meet(input_place at, int32_t host);
  /// Called at every read of training data, where time passes.
  std::function<void()> reading = [] {};
  /// The time of the world, which ends outages.
  std::function<std::chrono::nanoseconds()> now = [] { return std::chrono::nanoseconds{}; };
  /// Whether the data read there are to be corrupted.
  bool spoils(input_place at, int32_t host) { return due(at, host) != nullptr; }

 private:
  struct armed {
    trouble what;
    int64_t calls = 0;
    std::optional<std::chrono::nanoseconds> since = {};  ///< When the outage began.
  };
  bool is_due(armed& of, input_place at);
  const trouble* due(input_place at, int32_t host);

  std::vector<armed> armed_;
  std::vector<trouble> happened_;
};

/// The text of every injected error and exception.
inline constexpr const char* injected = "injected";

/// `of_evaluation` selects the places where it fails.
dataset troubled(const dataset& inner, std::shared_ptr<input_troubles> troubles, bool of_evaluation);

}  // namespace troupe::test::random_faults
