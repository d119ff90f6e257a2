// Optimizers: an update rule with a learning rate schedule, clipping, weight decay and moving averages.
// Read it to begin with.
//
//   .optimizer = tr::adam{.rate = 1e-3f}                       // A rule alone.
//   .optimizer = tr::optimizer{.rule = tr::adamw{.rate = 1e-3f}, .schedule = tr::cosine_decay{.decay_steps = 10000},
//                              .warmup_steps = 500, .clip = {.global_norm = 1}}
//
// Sparse gradients. If a model reads a variable only by `gather` along its first axis, as nn::embedding does, its
// gradient is sparse, and the rows that a step does not read are treated as in TensorFlow 1.x:
//   gradient_descent, proximal_gradient_descent, momentum, adagrad, rmsprop, adadelta, adamax, ftrl: they are skipped,
//     and their slots do not decay. The cost of an update is that of the rows read. (tf.train's optimizers; AdaMax:
//     tf.contrib.opt.)
//   adam, adamw, amsgrad: they are updated with a gradient of 0. (tf.train.AdamOptimizer; AMSGrad: Keras.)
//   lamb: the gradient is dense, since norms are of whole variables.
// Gradients of one row are summed before they are squared or clipped, and norms are those of the sums. Decoupled weight
// decay (not LAMB's) applies only to the rows read, as in tf.contrib.opt's DecoupledWeightDecayExtension. Moving
// averages include every row, as in tf.train.ExponentialMovingAverage: an update then costs as much as one of all rows.
#pragma once

#include <troupe/error.hpp>
#include <troupe/optimizer/learning_rate.hpp>
#include <troupe/optimizer/reduction.hpp>
#include <troupe/optimizer/update_rule.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Gradient clipping, in this order. 0: none. Norms are those of the gradient reduced over all shards.
struct clipping {
  float value = 0;        ///< Limits each element to [-value, value]. tf.clip_by_value.
  float norm = 0;         ///< g · min(1, norm / |g|) for each variable. tf.clip_by_norm.
  float global_norm = 0;  ///< The same over all variables: Pascanu et al. 2013, algorithm 1. tf.clip_by_global_norm.
};

/// Settings for the variables whose names begin with `prefix` and end with `suffix`. A group without a trainable
/// variable is an error.
struct variable_group {
  std::string prefix = {};
  std::string suffix = {};
  /// Replaces the optimizer's rule, with slots of its own; the schedule begins at its rate. A variable gets its rule
  /// from the first matching group that has one, so an earlier group may set other fields only.
  std::optional<update_rule> rule = {};
  float rate_factor = 1;                   ///< Multiplies the scheduled rate.
  std::optional<float> weight_decay = {};  ///< Replaces the optimizer's, or its rule's, weight decay.
  bool frozen = false;                     ///< The variables keep their values: no gradient, no slots.
};

/// How variables are updated. All fields apply to every trainable variable, unless a variable group says otherwise.
struct optimizer {
  update_rule rule = adam{};                          ///< See optimizer/update_rule.hpp.
  learning_rate_schedule schedule = constant_rate{};  ///< Of the rule's `rate` (optimizer/learning_rate.hpp).
  int64_t warmup_steps = 0;  ///< Update t of these uses t/warmup_steps of the rate. Goyal et al. 2017, section 2.2.
  reduction reduce = reduction::mean;  ///< Of the gradients of shards (optimizer/reduction.hpp).
  clipping clip = {};
  /// Decoupled: v -= η·weight_decay·v at each update, where η is the schedule applied to 1. In [0, 1). Loshchilov &
  /// Hutter 2019, section 2.
  float weight_decay = 0;
  std::vector<variable_group> groups = {};  ///< Except for the rule, the first group that matches a variable applies.
  /// Above 0: keeps a = moving_average·a + (1-moving_average)·v after each update, in the slot
  /// "ExponentialMovingAverage", which starts as v. Below 1. Polyak & Juditsky 1992;
  /// tf.train.ExponentialMovingAverage's `decay`. If the spec for evaluation or prediction sets it too, as heads do,
  /// that mode uses the averages in place of the variables, if the checkpoint has them.
  float moving_average = 0;
  /// Update t, from 1, has the decay min(moving_average, (1 + t) / (10 + t)), so that averages of a short training do
  /// not retain the initial values. tf.train.ExponentialMovingAverage's `num_updates`.
  bool moving_average_ramps = false;
};

/// invalid_argument naming field and value, if rates, epsilons and counts are not above 0, decays not in [0, 1), ...
TROUPE_API expected<void> validate(const optimizer& o);
/// "adam(rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08)", then all fields that are not at their defaults:
/// ", schedule = cosine(decay_steps = 10000, alpha = 0), warmup_steps = 500, clip.global_norm = 1".
TROUPE_API std::string to_text(const optimizer& o);
/// The rate of the update after `step` others, for variables under the optimizer's own rule. It must be valid.
TROUPE_API double rate_at(const optimizer& o, int64_t step);

}  // namespace troupe
