// Learning rates as functions of the step: TensorFlow 1.x's formulas and names.
// Not needed to begin with.
//
// s is the number of earlier updates, 0 for the first one; n is the field `decay_steps`; `rate` is that of the update
// rule. A rate depends only on s, so a resumed job continues with the same rates.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace troupe {

/// Always `rate`.
struct constant_rate {};

/// rate · decay_rate^(s/n). `staircase`: s/n is rounded down. tf.train.exponential_decay.
struct exponential_decay {
  int64_t decay_steps = 0;
  float decay_rate = 0.96f;
  bool staircase = false;
};

/// (rate - end_rate) · (1 - s/n)^power + end_rate, and end_rate from n on. `cycle`: in place of n, the least multiple
/// of n that is not below s. tf.train.polynomial_decay.
struct polynomial_decay {
  int64_t decay_steps = 0;
  float end_rate = 1e-4f;
  float power = 1;
  bool cycle = false;
};

/// values[i], where i is the number of boundaries below s. The rule's own rate is ignored. tf.train.piecewise_constant.
struct piecewise_constant {
  std::vector<int64_t> boundaries = {};  ///< Ascending.
  std::vector<float> values = {};        ///< One more than `boundaries`.
};

/// rate · ((1 - alpha) · (1 + cos(π·s/n))/2 + alpha), and rate · alpha from n on. tf.train.cosine_decay; Loshchilov &
/// Hutter 2017, eq. 5.
struct cosine_decay {
  int64_t decay_steps = 0;
  float alpha = 0;
};

/// Cosine decay with restarts: the first period has `first_decay_steps`; each later one is `t_mul` times as long as the
/// one before it, and begins at `m_mul` times its rate. tf.train.cosine_decay_restarts.
struct cosine_decay_restarts {
  int64_t first_decay_steps = 0;
  float t_mul = 2;
  float m_mul = 1;
  float alpha = 0;
};

/// rate · sqrt(n / max(s + 1, n)): constant until update n, then inverse to the square root of the number of updates.
/// With optimizer::warmup_steps = n it is Vaswani et al. 2017, eq. 3.
struct inverse_sqrt_decay {
  int64_t decay_steps = 0;
};

using learning_rate_schedule = std::variant<constant_rate, exponential_decay, polynomial_decay, piecewise_constant,
                                            cosine_decay, cosine_decay_restarts, inverse_sqrt_decay>;

}  // namespace troupe
