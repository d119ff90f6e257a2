// Update rules of optimizers: TensorFlow 1.x's formulas, defaults and slot names.
// Not needed to begin with.
//
// v is a variable, g its gradient, t the number of the update, from 1; `rate` is the field of that name after the
// schedule. Slots start at 0 unless stated otherwise; "w/Momentum" is the slot "Momentum" of the variable "w".
#pragma once

#include <troupe/api.hpp>

#include <cstdint>
#include <variant>

namespace troupe {

struct optimizer;

// NOLINTBEGIN(google-explicit-constructor): a rule is an optimizer with nothing added.

/// Plain gradient descent: v -= rate · g
struct gradient_descent {
  float rate = 0.01f;
  TROUPE_API operator optimizer() const;
};

/// u = v - rate·g;  v = sign(u) · max(0, |u| - rate·l1) / (1 + rate·l2). Duchi & Singer 2009, section 2; tf.train's.
/// With l1 > 0 elements become exactly 0, and stay 0 while their gradients are smaller than l1.
struct proximal_gradient_descent {
  float rate = 0.01f;
  float l1 = 0;
  float l2 = 0;
  TROUPE_API operator optimizer() const;
};

/// m = decay · m + g;  v -= rate · m  (`nesterov`: v -= rate · (g + decay · m)). Slot "Momentum". Polyak 1964, eq. 9;
/// Sutskever et al. 2013, section 2, in the form that needs only the gradient at v.
struct momentum {
  float rate = 0.01f;
  float decay = 0.9f;  ///< TensorFlow's `momentum`.
  bool nesterov = false;
  TROUPE_API operator optimizer() const;
};

/// s += g²;  v -= rate · g / sqrt(s). Slot "Adagrad" (s), which starts at `initial_accumulator`. Duchi et al. 2011,
/// section 1, the diagonal form.
struct adagrad {
  float rate = 0.01f;
  float initial_accumulator = 0.1f;
  TROUPE_API operator optimizer() const;
};

/// s = decay·s + (1-decay)·g²;  m = momentum·m + rate · g / sqrt(s + ε);  v -= m. `centered`: s - a² in place of s,
/// with a = decay·a + (1-decay)·g. Slots "RMSProp" (s, starts at 1), then a if centered, then m: "RMSProp_1",
/// "RMSProp_2". Tieleman & Hinton 2012, lecture 6e; centered: Graves 2013, eq. 38 to 41.
struct rmsprop {
  float rate = 0.001f;
  float decay = 0.9f;
  float momentum = 0;
  float epsilon = 1e-10f;
  bool centered = false;
  TROUPE_API operator optimizer() const;
};

/// s = ρ·s + (1-ρ)·g²;  d = g · sqrt(u + ε) / sqrt(s + ε);  u = ρ·u + (1-ρ)·d²;  v -= rate · d. Slots "Adadelta" (s)
/// and "Adadelta_1" (u). Zeiler 2012, algorithm 1, where the rate is 1.
struct adadelta {
  float rate = 0.001f;
  float rho = 0.95f;
  float epsilon = 1e-8f;
  TROUPE_API operator optimizer() const;
};

/// m = β1·m + (1-β1)·g;  s = β2·s + (1-β2)·g²;  v -= rate·sqrt(1-β2^t)/(1-β1^t) · m / (sqrt(s) + ε).
/// Slots "Adam" (m) and "Adam_1" (s). Kingma & Ba 2015, section 2, the efficient form ("ε hat").
struct adam {
  float rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  TROUPE_API operator optimizer() const;
};

/// Adam, and in addition v -= η·weight_decay·v, where η is the schedule applied to 1: the decay is not multiplied by
/// `rate`. Slots "Adam" and "Adam_1". Loshchilov & Hutter 2019, algorithm 2, line 12.
struct adamw {
  float rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 1e-4f;
  TROUPE_API operator optimizer() const;
};

/// m = β1·m + (1-β1)·g;  u = max(β2·u, |g|);  v -= rate/(1-β1^t) · m / (u + ε). Slots "AdaMax" (m) and "AdaMax_1" (u).
/// Kingma & Ba 2015, algorithm 2.
struct adamax {
  float rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  TROUPE_API operator optimizer() const;
};

/// Adam's m and s;  ŝ = max(ŝ, s);  v -= rate·sqrt(1-β2^t)/(1-β1^t) · m / (sqrt(ŝ) + ε). Slots "AMSGrad" (m),
/// "AMSGrad_1" (s) and "AMSGrad_2" (ŝ). Reddi et al. 2018, algorithm 2, with Adam's correction of both biases, as
/// TensorFlow has it.
struct amsgrad {
  float rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  TROUPE_API operator optimizer() const;
};

/// With p = learning_rate_power:  h = g + 2·l2_shrinkage·v;  z += h - ((s + g²)^-p - s^-p)/rate · v;  s += g²; v =
/// (sign(z)·l1 - z) / (s^-p/rate + 2·l2) where |z| > l1, else 0. Slots "Ftrl" (s, starts at `initial_accumulator`) and
/// "Ftrl_1" (z). McMahan et al. 2013, algorithm 1, where p is -1/2. With p = 0 the rate does not fall.
struct ftrl {
  float rate = 0.01f;
  float initial_accumulator = 0.1f;
  float l1 = 0;
  float l2 = 0;
  float l2_shrinkage = 0;
  float learning_rate_power = -0.5f;  ///< At most 0.
  TROUPE_API operator optimizer() const;
};

/// Adam's m and s;  r = m/(1-β1^t) / (sqrt(s/(1-β2^t)) + ε) + weight_decay · v;  v -= rate · |v|/|r| · r. Norms are
/// those of the whole variable; if one of them is 0, |v|/|r| is taken as 1. Slots "LAMB" (m) and "LAMB_1" (s). You et
/// al. 2020, algorithm 2, with φ(x) = x. Each replica updates whole variables.
struct lamb {
  float rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-6f;
  float weight_decay = 0;
  TROUPE_API operator optimizer() const;
};

// NOLINTEND(google-explicit-constructor)

using update_rule = std::variant<gradient_descent, momentum, adagrad, rmsprop, adadelta, adam, adamw, adamax, amsgrad,
                                 ftrl, lamb, proximal_gradient_descent>;

}  // namespace troupe
