// The input of a recipe's job: a dataset whose calls fail, throw or return bad data when a trouble is due.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

#include <troupe/dataset_iterator.hpp>

#include <functional>

namespace troupe::test::random_faults {

/// The troubles of a process's input, shared by all of its iterators, which run on one thread. Each is armed when it is
/// due.
class input_troubles {
 public:
  void arm(const trouble& t) { armed_.push_back({t}); }
  /// The troubles that have happened, in order.
  const std::vector<trouble>& happened() const { return happened_; }

  /// Called at each call of the input: returns an error or throws if a trouble is due there.
  expected<void> meet(input_place at, int32_t host);
  /// Called at every read of training data, to let time pass.
  std::function<void()> reading = [] {};
  /// Returns the current virtual time, by which outages end.
  std::function<std::chrono::nanoseconds()> now = [] { return std::chrono::nanoseconds{}; };
  /// True: the data of this read have to be corrupted.
  bool spoils(input_place at, int32_t host) { return due(at, host) != nullptr; }

 private:
  struct armed {
    trouble what;
    int64_t calls = 0;
    std::optional<std::chrono::nanoseconds> since = {};  ///< The time at which the outage began.
  };
  bool is_due(armed& of, input_place at);
  const trouble* due(input_place at, int32_t host);

  std::vector<armed> armed_;
  std::vector<trouble> happened_;
};

/// In the message of every injected error and exception.
inline constexpr const char* injected = "injected";

/// `of_evaluation`: the troubles at places of evaluations apply, else those of training. Without `host` it is that of
/// the iterator.
dataset troubled(const dataset& inner, std::shared_ptr<input_troubles> troubles, bool of_evaluation,
                 std::optional<int32_t> host = {});

}  // namespace troupe::test::random_faults
