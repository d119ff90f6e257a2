// The tables of the fields of optimizers (options/option_field.hpp): rules, schedules, clipping, groups and the rest.
// Not needed to begin with.
#pragma once

#include <troupe/optimizer.hpp>
#include <troupe/options/option_field.hpp>

namespace troupe {

template <>
struct option_choices<reduction> {
  static constexpr std::pair<std::string_view, reduction> all[] = {{"mean", reduction::mean}, {"sum", reduction::sum}};
};

/// The purpose of a field, by its name, which is the same in all rules and schedules.
namespace optimizer_purposes {
inline constexpr std::string_view alpha = "the share of the rate that is left at the end",
                                  beta1 = "share of the mean of gradients that a step keeps",
                                  beta2 = "share of the mean of their squares that a step keeps",
                                  boundaries = "the steps after which the next value holds",
                                  centered = "take the mean gradient off the mean square",
                                  cycle = "begin anew after the last step",
                                  decay = "share of the running sum that a step keeps",
                                  decay_rate = "the factor of n steps",
                                  decay_steps = "length of the schedule in steps, n",
                                  end_rate = "the rate from step n on",
                                  epsilon = "added to denominators, which may be near 0",
                                  first_decay_steps = "the first period", frozen = "they keep their values",
                                  global_norm = "limit of the norm of the whole gradient; 0: none",
                                  initial_accumulator = "the sum of squares at the beginning",
                                  l1 = "strength of the L1 norm's pull towards 0", l2 = "strength of the L2 norm's",
                                  l2_shrinkage = "strength of the L2 norm's, in the gradient",
                                  learning_rate_power = "how the rate falls with the sum of squares",
                                  m_mul = "by which each period begins higher",
                                  momentum = "share of the last update that is added to the next",
                                  moving_average = "decay of the averages of variables that are kept; 0: none",
                                  moving_average_ramps = "update t has a decay of (1 + t) / (10 + t) at most",
                                  nesterov = "look ahead by one update",
                                  norm = "limit of the norm of each variable's gradient; 0: none",
                                  power = "the exponent", prefix = "how the names of its variables begin",
                                  rate = "the learning rate", rate_factor = "by which their rate is multiplied",
                                  reduce = "whether the gradients of the shards of a batch are averaged or summed",
                                  rho = "share of the mean squares that a step keeps",
                                  staircase = "the rate falls every n steps, not at each",
                                  suffix = "how they end, as in /bias", t_mul = "by which each period is longer",
                                  value = "limit of each element of the gradient; 0: none",
                                  values = "the rates, one more than boundaries",
                                  warmup_steps = "the first steps, in which the rate rises from 0",
                                  weight_decay = "share of each variable that is taken off at each step";
}  // namespace optimizer_purposes

#define TROUPE_FIELD(owner, field, range) \
  option_field { #field, &owner::field, optimizer_purposes::field, field_range::range }
#define TROUPE_ADAM_FIELDS(owner)                                                     \
  TROUPE_FIELD(owner, rate, above_number(0)), TROUPE_FIELD(owner, beta1, fraction()), \
      TROUPE_FIELD(owner, beta2, fraction()), TROUPE_FIELD(owner, epsilon, above_number(0))

template <>
struct option_fields<gradient_descent> {
  static constexpr std::string_view name = "gradient_descent";
  static constexpr std::tuple all{TROUPE_FIELD(gradient_descent, rate, above_number(0))};
};
template <>
struct option_fields<proximal_gradient_descent> {
  static constexpr std::string_view name = "proximal_gradient_descent";
  static constexpr std::tuple all{TROUPE_FIELD(proximal_gradient_descent, rate, above_number(0)),
                                  TROUPE_FIELD(proximal_gradient_descent, l1, at_least(0)),
                                  TROUPE_FIELD(proximal_gradient_descent, l2, at_least(0))};
};
template <>
struct option_fields<momentum> {
  static constexpr std::string_view name = "momentum";
  static constexpr std::tuple all{TROUPE_FIELD(momentum, rate, above_number(0)),
                                  TROUPE_FIELD(momentum, decay, fraction()),
                                  TROUPE_FIELD(momentum, nesterov, finite())};
};
template <>
struct option_fields<adagrad> {
  static constexpr std::string_view name = "adagrad";
  static constexpr std::tuple all{TROUPE_FIELD(adagrad, rate, above_number(0)),
                                  TROUPE_FIELD(adagrad, initial_accumulator, above_number(0))};
};
template <>
struct option_fields<rmsprop> {
  static constexpr std::string_view name = "rmsprop";
  static constexpr std::tuple all{TROUPE_FIELD(rmsprop, rate, above_number(0)),
                                  TROUPE_FIELD(rmsprop, decay, fraction()), TROUPE_FIELD(rmsprop, momentum, fraction()),
                                  TROUPE_FIELD(rmsprop, epsilon, above_number(0)),
                                  TROUPE_FIELD(rmsprop, centered, finite())};
};
template <>
struct option_fields<adadelta> {
  static constexpr std::string_view name = "adadelta";
  static constexpr std::tuple all{TROUPE_FIELD(adadelta, rate, above_number(0)),
                                  TROUPE_FIELD(adadelta, rho, fraction()),
                                  TROUPE_FIELD(adadelta, epsilon, above_number(0))};
};
template <>
struct option_fields<adam> {
  static constexpr std::string_view name = "adam";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(adam)};
};
template <>
struct option_fields<adamw> {
  static constexpr std::string_view name = "adamw";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(adamw), TROUPE_FIELD(adamw, weight_decay, fraction())};
};
template <>
struct option_fields<adamax> {
  static constexpr std::string_view name = "adamax";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(adamax)};
};
template <>
struct option_fields<amsgrad> {
  static constexpr std::string_view name = "amsgrad";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(amsgrad)};
};
template <>
struct option_fields<ftrl> {
  static constexpr std::string_view name = "ftrl";
  static constexpr std::tuple all{
      TROUPE_FIELD(ftrl, rate, above_number(0)),     TROUPE_FIELD(ftrl, initial_accumulator, above_number(0)),
      TROUPE_FIELD(ftrl, l1, at_least(0)),           TROUPE_FIELD(ftrl, l2, at_least(0)),
      TROUPE_FIELD(ftrl, l2_shrinkage, at_least(0)), TROUPE_FIELD(ftrl, learning_rate_power, at_most(0))};
};
template <>
struct option_fields<lamb> {
  static constexpr std::string_view name = "lamb";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(lamb), TROUPE_FIELD(lamb, weight_decay, at_least(0))};
};

template <>
struct option_fields<constant_rate> {
  static constexpr std::string_view name = "constant";
  static constexpr std::tuple<> all{};
};
template <>
struct option_fields<exponential_decay> {
  static constexpr std::string_view name = "exponential";
  static constexpr std::tuple all{TROUPE_FIELD(exponential_decay, decay_steps, at_least(1)),
                                  TROUPE_FIELD(exponential_decay, decay_rate, above_number(0)),
                                  TROUPE_FIELD(exponential_decay, staircase, finite())};
};
template <>
struct option_fields<polynomial_decay> {
  static constexpr std::string_view name = "polynomial";
  static constexpr std::tuple all{
      TROUPE_FIELD(polynomial_decay, decay_steps, at_least(1)), TROUPE_FIELD(polynomial_decay, end_rate, at_least(0)),
      TROUPE_FIELD(polynomial_decay, power, above_number(0)), TROUPE_FIELD(polynomial_decay, cycle, finite())};
};
template <>
struct option_fields<piecewise_constant> {
  static constexpr std::string_view name = "piecewise";
  static constexpr std::tuple all{TROUPE_FIELD(piecewise_constant, boundaries, at_least(0)),
                                  TROUPE_FIELD(piecewise_constant, values, above_number(0))};
};
template <>
struct option_fields<cosine_decay> {
  static constexpr std::string_view name = "cosine";
  static constexpr std::tuple all{TROUPE_FIELD(cosine_decay, decay_steps, at_least(1)),
                                  TROUPE_FIELD(cosine_decay, alpha, fraction())};
};
template <>
struct option_fields<cosine_decay_restarts> {
  static constexpr std::string_view name = "cosine_restarts";
  static constexpr std::tuple all{TROUPE_FIELD(cosine_decay_restarts, first_decay_steps, at_least(1)),
                                  TROUPE_FIELD(cosine_decay_restarts, t_mul, at_least(1)),
                                  TROUPE_FIELD(cosine_decay_restarts, m_mul, above_number(0)),
                                  TROUPE_FIELD(cosine_decay_restarts, alpha, fraction())};
};
template <>
struct option_fields<inverse_sqrt_decay> {
  static constexpr std::string_view name = "inverse_sqrt";
  static constexpr std::tuple all{TROUPE_FIELD(inverse_sqrt_decay, decay_steps, at_least(1))};
};

template <>
struct option_fields<clipping> {
  static constexpr std::tuple all{TROUPE_FIELD(clipping, value, at_least(0)), TROUPE_FIELD(clipping, norm, at_least(0)),
                                  TROUPE_FIELD(clipping, global_norm, at_least(0))};
};
template <>
struct option_fields<variable_group> {
  static constexpr std::tuple all{
      TROUPE_FIELD(variable_group, prefix, finite()), TROUPE_FIELD(variable_group, suffix, finite()),
      TROUPE_FIELD(variable_group, rate_factor, above_number(0)),
      TROUPE_FIELD(variable_group, weight_decay, fraction()), TROUPE_FIELD(variable_group, frozen, finite())};
};
/// The fields beside rule, schedule, clipping and groups.
template <>
struct option_fields<optimizer> {
  static constexpr std::tuple all{
      TROUPE_FIELD(optimizer, warmup_steps, at_least(0)), TROUPE_FIELD(optimizer, reduce, finite()),
      TROUPE_FIELD(optimizer, weight_decay, fraction()), TROUPE_FIELD(optimizer, moving_average, fraction()),
      TROUPE_FIELD(optimizer, moving_average_ramps, finite())};
};

#undef TROUPE_ADAM_FIELDS
#undef TROUPE_FIELD

}  // namespace troupe
