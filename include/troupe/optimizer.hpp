// Optimizers: an update rule, its rate at each step, and what surrounds the rule: clipping, weight decay, averages.
// Read it to begin with.
//
//   .optimizer = tr::adam{.rate = 1e-3f}                       // A rule alone.
//   .optimizer = tr::optimizer{.rule = tr::adamw{.rate = 1e-3f}, .schedule = tr::cosine_decay{.decay_steps = 10000},
//                              .warmup_steps = 500, .clip = {.global_norm = 1}}
//
// Sparse gradients. Where a model reads a variable only by `gather` along its first axis, as nn::embedding does, its
// gradient is sparse, and rows that no lookup of a step reads are treated as in TensorFlow 1.x:
//   gradient_descent, proximal_gradient_descent, momentum, adagrad, rmsprop, adadelta, adamax, ftrl: such rows are
//     skipped, and their slots do not decay. The update costs what the rows that occur cost. (tf.train's optimizers;
//     AdaMax: tf.contrib.opt.)
//   adam, adamw, amsgrad: every row is updated, with a gradient of 0 where it does not occur. (tf.train.AdamOptimizer;
//     AMSGrad: Keras.)
//   lamb: the gradient is dense, since norms are of whole variables.
// Updates of one row are summed before they are squared or clipped, and norms are of those sums. Decoupled weight decay
// (not LAMB's) reaches only the rows that occur, as in tf.contrib.opt's DecoupledWeightDecayExtension. Moving averages
// go on for every row, as in tf.train.ExponentialMovingAverage: with them an update costs what the whole table costs.
//
// To add up gradients over parts of a batch before each update, see run_config::gradient_shards.
#pragma once

#include <troupe/error.hpp>
#include <troupe/optimizer/learning_rate.hpp>
#include <troupe/optimizer/update_rule.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Gradient clipping, applied in this order; 0: none. Norms are those of the gradient summed over all replicas.
struct clipping {
  float value = 0;        ///< Each element to [-value, value]. tf.clip_by_value.
  float norm = 0;         ///< g · min(1, norm / |g|) of each variable. tf.clip_by_norm.
  float global_norm = 0;  ///< The same over all variables: Pascanu et al. 2013, algorithm 1. tf.clip_by_global_norm.
};

/// Variables that are treated differently: those whose names begin with `prefix` and end in `suffix`. A group that no trainable
/// variable belongs to is an error.
struct variable_group {
  std::string prefix = {};
  std::string suffix = {};
  /// Updates them in place of the optimizer's rule, with slots of its own; the schedule begins at its rate. Of the groups that fit a
  /// variable the first that has a rule gives it, so that a group in front may add a factor and leave the rule alone.
  std::optional<update_rule> rule = {};
  float rate_factor = 1;                    ///< Multiplies the scheduled rate.
  std::optional<float> weight_decay = {};   ///< In place of the optimizer's, or its rule's.
  bool frozen = false;                      ///< They keep their values: no gradient, no slots.
};

struct optimizer {
  update_rule rule = adam{};
  learning_rate_schedule schedule = constant_rate{};
  /// Linear warm-up: update t of the first ones uses t/warmup_steps of the scheduled rate. Goyal et al. 2017, section
  /// 2.2.
  int64_t warmup_steps = 0;
  clipping clip = {};
  /// v -= η·weight_decay·v beside the rule's update, where η is the schedule applied to 1. Loshchilov & Hutter 2019,
  /// section 2.
  float weight_decay = 0;
  std::vector<variable_group> groups = {};  ///< A variable belongs to the first one that matches, but for the rule.
  /// Above 0: a = moving_average·a + (1-moving_average)·v after each update, a being v at first. Slot
  /// "ExponentialMovingAverage". Polyak & Juditsky 1992; tf.train.ExponentialMovingAverage's `decay`. If the model's
  /// spec for evaluation or prediction sets it too, as the heads' do, that mode uses averages in place of variables,
  /// where the checkpoint has them.
  float moving_average = 0;
  /// Update t, counted from 1, has the decay min(moving_average, (1 + t) / (10 + t)), so that averages of a short
  /// training do not retain the initial values. tf.train.ExponentialMovingAverage's `num_updates`.
  bool moving_average_ramps = false;
};

/// Checks that rates, epsilons and counts are above 0, decays in [0, 1), ...; else invalid_argument naming field and
/// value.
TROUPE_API expected<void> validate(const optimizer& o);
/// "adam(rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08)", then whatever is not its default:
/// ", schedule = cosine(decay_steps = 10000, alpha = 0), warmup_steps = 500, clip.global_norm = 1".
TROUPE_API std::string to_string(const optimizer& o);
/// The rate of the update that is made after `step` others, for variables under the optimizer's own rule. The optimizer must be valid.
TROUPE_API double rate_at(const optimizer& o, int64_t step);

inline gradient_descent::operator optimizer() const { return {.rule = *this}; }
inline proximal_gradient_descent::operator optimizer() const { return {.rule = *this}; }
inline momentum::operator optimizer() const { return {.rule = *this}; }
inline adagrad::operator optimizer() const { return {.rule = *this}; }
inline rmsprop::operator optimizer() const { return {.rule = *this}; }
inline adadelta::operator optimizer() const { return {.rule = *this}; }
inline adam::operator optimizer() const { return {.rule = *this}; }
inline adamw::operator optimizer() const { return {.rule = *this}; }
inline adamax::operator optimizer() const { return {.rule = *this}; }
inline amsgrad::operator optimizer() const { return {.rule = *this}; }
inline ftrl::operator optimizer() const { return {.rule = *this}; }
inline lamb::operator optimizer() const { return {.rule = *this}; }

}  // namespace troupe
