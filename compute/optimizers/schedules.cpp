// Learning rates as pure functions of the number of updates made before: tf.train's decays, in float64.
#include "compute/kernels/elementary.hpp"
#include "compute/optimizers/update.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace troupe {
namespace {

double cosine(double share) { return 0.5 * (1 + elementary::cos(std::numbers::pi * share)); }

double scheduled(const constant_rate&, double rate, int64_t) { return rate; }

double scheduled(const exponential_decay& o, double rate, int64_t step) {
  const double periods = static_cast<double>(step) / static_cast<double>(o.decay_steps);
  return rate * elementary::pow(static_cast<double>(o.decay_rate), o.staircase ? std::floor(periods) : periods);
}

double scheduled(const polynomial_decay& o, double rate, int64_t step) {
  const int64_t periods = o.cycle ? std::max<int64_t>((step + o.decay_steps - 1) / o.decay_steps, 1) : 1;
  const auto length = static_cast<double>(o.decay_steps * periods);
  const double left = std::max(1 - static_cast<double>(step) / length, 0.0), end = o.end_rate;
  return (rate - end) * elementary::pow(left, static_cast<double>(o.power)) + end;
}

double scheduled(const piecewise_constant& o, double, int64_t step) {
  return o.values[static_cast<size_t>(std::lower_bound(o.boundaries.begin(), o.boundaries.end(), step)
                                      - o.boundaries.begin())];
}

double scheduled(const cosine_decay& o, double rate, int64_t step) {
  const double alpha = o.alpha;
  return rate
         * ((1 - alpha) * cosine(std::min(static_cast<double>(step) / static_cast<double>(o.decay_steps), 1.0))
            + alpha);
}

double scheduled(const cosine_decay_restarts& o, double rate, int64_t step) {
  // Counts periods of different lengths one by one. TensorFlow computes their number by a logarithm, whose rounding may
  // put a restart into the previous step.
  const double growth = o.t_mul, alpha = o.alpha;
  auto length = static_cast<double>(o.first_decay_steps), into = static_cast<double>(step), periods = 0.0;
  if (growth == 1) {
    periods = std::floor(into / length);
    into -= periods * length;
  } else {
    for (; into >= length; periods += 1) {
      into -= length;
      length *= growth;
    }
  }
  return rate * ((1 - alpha) * elementary::pow(static_cast<double>(o.m_mul), periods) * cosine(into / length) + alpha);
}

double scheduled(const inverse_sqrt_decay& o, double rate, int64_t step) {
  return rate * std::sqrt(static_cast<double>(o.decay_steps) / static_cast<double>(std::max(step + 1, o.decay_steps)));
}

double before_warmup(const optimizer& o, int32_t g, int64_t step) {
  const double rate = std::visit([](const auto& kind) { return static_cast<double>(kind.rate); }, rule_at(o, g));
  return std::visit([&](const auto& kind) { return scheduled(kind, rate, step); }, o.schedule);
}

double warmth(const optimizer& o, int64_t step) {
  return step + 1 < o.warmup_steps ? static_cast<double>(step + 1) / static_cast<double>(o.warmup_steps) : 1;
}

}  // namespace

double rate_of_rule(const optimizer& o, int32_t g, int64_t step) { return before_warmup(o, g, step) * warmth(o, step); }

double rate_at(const optimizer& o, int64_t step) { return rate_of_rule(o, own_rule, step); }

double schedule_factor(const optimizer& o, int32_t g, int64_t step) {
  return before_warmup(o, g, step) / before_warmup(o, g, 0) * warmth(o, step);
}

}  // namespace troupe
