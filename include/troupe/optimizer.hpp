// Optimizers: TensorFlow 1.x's formulas, defaults and slot names. t is the step being made, counted from 1.
#pragma once

#include <troupe/error.hpp>

#include <variant>

namespace troupe {

/// v -= rate · g
struct gradient_descent {
  float rate = 0.01f;
};

/// m = momentum · m + g;  v -= rate · m  (nesterov: v -= rate · (g + momentum · m)). Slot "Momentum". Sutskever et al. 2013.
struct momentum {
  float rate = 0.01f;
  float decay = 0.9f;  ///< TensorFlow's `momentum`.
  bool nesterov = false;
};

/// m = β1·m + (1-β1)·g;  s = β2·s + (1-β2)·g²;  v -= rate·sqrt(1-β2^t)/(1-β1^t) · m / (sqrt(s) + ε).
/// Slots "Adam" (m) and "Adam_1" (s). Kingma & Ba 2015, section 2, the efficient form ("ε hat").
struct adam {
  float rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
};

using optimizer = std::variant<gradient_descent, momentum, adam>;

/// Every rate > 0, decays in [0, 1), epsilon > 0; else invalid_argument naming the field and its value.
TROUPE_API expected<void> validate(const optimizer& o);
/// "adam(rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08)".
TROUPE_API std::string to_string(const optimizer& o);

}  // namespace troupe
