// The published recurrences of the optimizers, each written out in float64 for a whole variable.
#pragma once

#include <troupe/optimizer.hpp>

#include <cmath>
#include <vector>

namespace troupe::test {

/// A variable and the slots of its optimizer.
struct recurrence {
  std::vector<double> v;
  std::vector<double> a = std::vector<double>(v.size(), 0.0), b = a, c = a;

  size_t n() const { return v.size(); }
  static double norm(const std::vector<double>& x) {
    double sum = 0;
    for (double e : x)
      sum += e * e;
    return std::sqrt(sum);
  }

  void start(const update_rule& rule) {
    if (const auto* o = std::get_if<adagrad>(&rule))
      a.assign(n(), static_cast<double>(o->initial_accumulator));
    if (const auto* o = std::get_if<ftrl>(&rule))
      a.assign(n(), static_cast<double>(o->initial_accumulator));
    if (std::holds_alternative<rmsprop>(rule))
      a.assign(n(), 1);
  }

  void update(const gradient_descent&, int, double rate, const std::vector<double>& g) {
    for (size_t i = 0; i < n(); ++i)
      v[i] = v[i] - rate * g[i];
  }
  void update(const proximal_gradient_descent& o, int, double rate, const std::vector<double>& g) {
    for (size_t i = 0; i < n(); ++i) {
      const double u = v[i] - rate * g[i];
      v[i] = std::copysign(std::max(0.0, std::abs(u) - rate * static_cast<double>(o.l1)), u)
             / (1 + rate * static_cast<double>(o.l2));
    }
  }
  void update(const momentum& o, int, double rate, const std::vector<double>& g) {
    const double mu = o.decay;
    for (size_t i = 0; i < n(); ++i) {
      a[i] = mu * a[i] + g[i];
      v[i] -= o.nesterov ? rate * g[i] + rate * mu * a[i] : rate * a[i];
    }
  }
  void update(const adagrad&, int, double rate, const std::vector<double>& g) {
    for (size_t i = 0; i < n(); ++i) {
      a[i] += g[i] * g[i];
      v[i] -= rate * g[i] / std::sqrt(a[i]);
    }
  }
  void update(const rmsprop& o, int, double rate, const std::vector<double>& g) {
    const double rho = o.decay;
    for (size_t i = 0; i < n(); ++i) {
      a[i] += (1 - rho) * (g[i] * g[i] - a[i]);
      b[i] += (1 - rho) * (g[i] - b[i]);
      const double spread = o.centered ? a[i] - b[i] * b[i] : a[i];
      c[i] = static_cast<double>(o.momentum) * c[i] + rate * g[i] / std::sqrt(spread + static_cast<double>(o.epsilon));
      v[i] -= c[i];
    }
  }
  void update(const adadelta& o, int, double rate, const std::vector<double>& g) {
    const double rho = o.rho, epsilon = o.epsilon;
    const auto rms = [epsilon](double mean_square) { return std::sqrt(mean_square + epsilon); };
    for (size_t i = 0; i < n(); ++i) {
      a[i] = rho * a[i] + (1 - rho) * g[i] * g[i];
      const double change = -rms(b[i]) / rms(a[i]) * g[i];
      b[i] = rho * b[i] + (1 - rho) * change * change;
      v[i] += rate * change;
    }
  }
  template <class Rule>
  void moments(const Rule& o, const std::vector<double>& g) {
    const double b1 = o.beta1, b2 = o.beta2;
    for (size_t i = 0; i < n(); ++i) {
      a[i] = b1 * a[i] + (1 - b1) * g[i];
      b[i] = b2 * b[i] + (1 - b2) * g[i] * g[i];
    }
  }
  template <class Rule>
  static double corrected(const Rule& o, int t, double rate) {
    return rate * std::sqrt(1 - std::pow(static_cast<double>(o.beta2), t))
           / (1 - std::pow(static_cast<double>(o.beta1), t));
  }
  void update(const adam& o, int t, double rate, const std::vector<double>& g) {
    moments(o, g);
    for (size_t i = 0; i < n(); ++i)
      v[i] -= corrected(o, t, rate) * a[i] / (std::sqrt(b[i]) + static_cast<double>(o.epsilon));
  }
  void update(const adamw& o, int t, double rate, const std::vector<double>& g) {
    const auto before = v;
    update(adam{o.rate, o.beta1, o.beta2, o.epsilon}, t, rate, g);
    for (size_t i = 0; i < n(); ++i)
      v[i] -= static_cast<double>(o.weight_decay) * before[i];
  }
  void update(const adamax& o, int t, double rate, const std::vector<double>& g) {
    const double b1 = o.beta1, b2 = o.beta2;
    for (size_t i = 0; i < n(); ++i) {
      a[i] = b1 * a[i] + (1 - b1) * g[i];
      b[i] = std::max(b2 * b[i], std::abs(g[i]));
      v[i] -= rate / (1 - std::pow(b1, t)) * a[i] / (b[i] + static_cast<double>(o.epsilon));
    }
  }
  void update(const amsgrad& o, int t, double rate, const std::vector<double>& g) {
    moments(o, g);
    for (size_t i = 0; i < n(); ++i) {
      c[i] = std::max(c[i], b[i]);
      v[i] -= corrected(o, t, rate) * a[i] / (std::sqrt(c[i]) + static_cast<double>(o.epsilon));
    }
  }
  void update(const ftrl& o, int, double rate, const std::vector<double>& g) {
    const double l1 = o.l1, l2 = o.l2, shrinkage = o.l2_shrinkage;
    for (size_t i = 0; i < n(); ++i) {
      const double power = -static_cast<double>(o.learning_rate_power);
      const double after = a[i] + g[i] * g[i], sigma = (std::pow(after, power) - std::pow(a[i], power)) / rate;
      b[i] += g[i] + 2 * shrinkage * v[i] - sigma * v[i];
      a[i] = after;
      v[i] = std::abs(b[i]) <= l1 ? 0 : -(b[i] - std::copysign(l1, b[i])) / (std::pow(after, power) / rate + 2 * l2);
    }
  }
  void update(const lamb& o, int t, double rate, const std::vector<double>& g) {
    moments(o, g);
    std::vector<double> r(n());
    for (size_t i = 0; i < n(); ++i) {
      const double m = a[i] / (1 - std::pow(static_cast<double>(o.beta1), t)),
                   s = b[i] / (1 - std::pow(static_cast<double>(o.beta2), t));
      r[i] = m / (std::sqrt(s) + static_cast<double>(o.epsilon)) + static_cast<double>(o.weight_decay) * v[i];
    }
    const double ratio = norm(v) > 0 && norm(r) > 0 ? norm(v) / norm(r) : 1;
    for (size_t i = 0; i < n(); ++i)
      v[i] -= rate * ratio * r[i];
  }
};

/// Every rule, some of them with several settings.
inline const std::vector<optimizer>& all_rules() {
  static const std::vector<optimizer> rules{
      gradient_descent{.rate = 0.1f},
      momentum{.rate = 0.05f, .decay = 0.8f},
      momentum{.rate = 0.05f, .nesterov = true},
      adagrad{.rate = 0.1f},
      rmsprop{.rate = 0.01f},
      rmsprop{.rate = 0.01f, .decay = 0.8f, .momentum = 0.5f, .epsilon = 1e-3f, .centered = true},
      adadelta{.rate = 1, .epsilon = 1e-4f},
      adam{.rate = 0.02f},
      adamw{.rate = 0.02f, .weight_decay = 0.01f},
      adamax{.rate = 0.02f},
      amsgrad{.rate = 0.02f, .beta2 = 0.9f},
      ftrl{.rate = 0.5f},
      ftrl{.rate = 0.5f, .l1 = 0.3f, .l2 = 0.1f, .l2_shrinkage = 0.05f},
      ftrl{.rate = 0.1f, .l1 = 0.02f, .learning_rate_power = -0.3f},
      proximal_gradient_descent{.rate = 0.1f},
      proximal_gradient_descent{.rate = 0.1f, .l1 = 0.2f, .l2 = 0.1f},
      lamb{.rate = 0.02f},
      lamb{.rate = 0.02f, .weight_decay = 0.1f}};
  return rules;
}

}  // namespace troupe::test
