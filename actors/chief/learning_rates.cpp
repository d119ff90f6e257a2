#include "actors/chief/learning_rates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace troupe {

std::optional<double> learning_rates::begin(int64_t step, double factor) {
  factors_ = {{step, factor}};
  outdated_.reset();
  return last_answer_ && last_answer_->step == step && last_answer_->factor != factor
             ? std::optional{last_answer_->factor}
             : std::nullopt;
}

double learning_rates::at(int64_t step) const {
  const auto next = factors_.upper_bound(step);
  return next == factors_.begin() ? 1 : std::prev(next)->second;
}

bool learning_rates::allows(int64_t step, double factor) const {
  const double all = at(step) * factor;
  return std::isfinite(factor) && factor > 0 && all <= std::numeric_limits<float>::max()
         && all >= std::numeric_limits<float>::min();  // Rates are float32.
}

std::vector<std::pair<int64_t, double>> learning_rates::multiply(int64_t step, double factor) {
  factors_.emplace(step, at(step));
  std::vector<std::pair<int64_t, double>> changed;
  for (auto rate = factors_.find(step); rate != factors_.end(); ++rate)
    changed.emplace_back(rate->first, rate->second *= factor);
  return changed;
}

void learning_rates::forget(int64_t step) {
  const auto next = factors_.upper_bound(outdated_ ? std::min(step, outdated_->step) : step);
  if (next != factors_.begin())
    factors_.erase(factors_.begin(), std::prev(next));
}

void learning_rates::answered(uint64_t fact, int64_t step, double factor) {
  const double before = last_answer_ && last_answer_->fact == fact ? last_answer_->factor : at(step);
  last_answer_ = answer{fact, step, factor * before};
}

}  // namespace troupe
