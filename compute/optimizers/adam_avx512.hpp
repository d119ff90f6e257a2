// Adam's update of a range with vectors of 512 bits.
#pragma once

#include "compute/optimizers/update.hpp"

namespace troupe::adam_avx512 {

/// The factors of one update, the same for every element.
struct factors {
  float beta1, rest1, beta2, rest2;  ///< β1, 1-β1, β2, 1-β2.
  float minus_rate;                  ///< Minus the learning rate, with both biases corrected.
  float epsilon;
  bool surrounded;  ///< Whether one of the four fields below has an effect.
  float clip_value, gradient_scale, keep, average_rest;
};

/// Yields the same bits as the portable loop in adam.cpp; called only where `uses_avx512()`.
void run(const factors& f, const update_range<float>& x);

}  // namespace troupe::adam_avx512
