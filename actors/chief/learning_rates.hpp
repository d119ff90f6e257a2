// The factors of the learning rate that hooks have set, by the first step to which each applies. Plain data.
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
  /// An attempt begins at `step`, whose checkpoint has `factor`. Returns another factor if hooks have set one for this
  /// step in their answer to the last fact that they held: that fact is not told again, while facts of later states
  /// are.
  std::optional<double> begin(int64_t step, double factor);

  /// 1 for what was forgotten: the books of such a state have been written.
  double at(int64_t step) const;
  bool says(int64_t step) const { return factors_.contains(step); }
  /// Whether the product with the factor so far is a valid factor: above 0 and finite in float32.
  bool allows(int64_t step, double factor) const;
  void set(int64_t step, double factor) { factors_[step] = factor; }
  /// Multiplies the factors of the updates from `step` on, which no replica has made. Returns the new factors.
  std::vector<std::pair<int64_t, double>> multiply(int64_t step, double factor);
  /// No save needs the updates before `step` any more. So the factors stay few, however often hooks set one.
  void forget(int64_t step);
  /// Hooks answered a fact of `step` that they hold with `factor`. Kept even if the attempt does not apply it.
  void answered(uint64_t fact, int64_t step, double factor);

  /// The books of a save were sent before a factor of its state was set: the checkpoint gets a verdict once it is
  /// committed.
  void correct(checkpoint_id id) { outdated_ = id; }
  bool take_correction(checkpoint_id id) {
    return outdated_ == id && std::exchange(outdated_, std::nullopt).has_value();
  }

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
