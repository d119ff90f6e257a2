// The factors of the learning rate that hooks have set, by the first step that each is for. Plain data.
#pragma once

#include <troupe/checkpoint_id.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

class learning_rates {
 public:
  /// An attempt begins at `step`, whose checkpoint says `factor`. Returns another one for that step: what hooks have said to the last fact that
  /// they held. Facts of later states are told again, and this one is not.
  std::optional<double> begin(int64_t step, double factor);

  double at(int64_t step) const;
  bool says(int64_t step) const { return factors_.contains(step); }
  /// Whether the product is a rate: above 0 and finite.
  bool allows(int64_t step, double factor) const;
  void set(int64_t step, double factor) { factors_[step] = factor; }
  /// Of the updates from `step` on, which no replica has made. Returns the new factors.
  std::vector<std::pair<int64_t, double>> multiply(int64_t step, double factor);
  /// `factor` was the answer to a fact of `step` that hooks hold, whatever the attempt makes of it.
  void answered(uint64_t fact, int64_t step, double factor);

  /// The books of a save were sent before a factor for its state: it gets a verdict once it is committed.
  void correct(checkpoint_id id) { outdated_ = id; }
  bool take_correction(checkpoint_id id) { return outdated_ == id && std::exchange(outdated_, std::nullopt).has_value(); }

 private:
  struct answer {
    uint64_t fact = 0;
    int64_t step = 0;
    double factor = 1;
  };
  std::map<int64_t, double> factors_;
  std::optional<checkpoint_id> outdated_;
  std::optional<answer> last_answer_;
};

}  // namespace troupe
