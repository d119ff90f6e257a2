// The options of optimizers by name, for printing, checking and parsing them.
//
//   each_field(rule, [](std::string_view name, float& value, field_range) { ... });
#pragma once

#include <troupe/optimizer.hpp>

#include <tuple>

namespace troupe {

enum class field_range : uint8_t { any, above_zero, at_least_zero, at_least_one, at_most_zero, share };  ///< share: in [0, 1).

template <class Owner, class T>
struct option_field {
  std::string_view name;
  T Owner::* member;
  field_range range = field_range::any;
};
template <class Owner, class T>
option_field(const char*, T Owner::*, field_range) -> option_field<Owner, T>;

/// The name and the fields of a rule or a schedule.
template <class Options>
struct option_fields;

#define TROUPE_FIELD(owner, field, range) option_field{#field, &owner::field, field_range::range}
#define TROUPE_ADAM_FIELDS(owner)                                                                                     \
  TROUPE_FIELD(owner, rate, above_zero), TROUPE_FIELD(owner, beta1, share), TROUPE_FIELD(owner, beta2, share),         \
      TROUPE_FIELD(owner, epsilon, above_zero)

template <> struct option_fields<gradient_descent> {
  static constexpr std::string_view name = "gradient_descent";
  static constexpr std::tuple all{TROUPE_FIELD(gradient_descent, rate, above_zero)};
};
template <> struct option_fields<proximal_gradient_descent> {
  static constexpr std::string_view name = "proximal_gradient_descent";
  static constexpr std::tuple all{TROUPE_FIELD(proximal_gradient_descent, rate, above_zero), TROUPE_FIELD(proximal_gradient_descent, l1, at_least_zero),
                                  TROUPE_FIELD(proximal_gradient_descent, l2, at_least_zero)};
};
template <> struct option_fields<momentum> {
  static constexpr std::string_view name = "momentum";
  static constexpr std::tuple all{TROUPE_FIELD(momentum, rate, above_zero), TROUPE_FIELD(momentum, decay, share), TROUPE_FIELD(momentum, nesterov, any)};
};
template <> struct option_fields<adagrad> {
  static constexpr std::string_view name = "adagrad";
  static constexpr std::tuple all{TROUPE_FIELD(adagrad, rate, above_zero), TROUPE_FIELD(adagrad, initial_accumulator, above_zero)};
};
template <> struct option_fields<rmsprop> {
  static constexpr std::string_view name = "rmsprop";
  static constexpr std::tuple all{TROUPE_FIELD(rmsprop, rate, above_zero), TROUPE_FIELD(rmsprop, decay, share), TROUPE_FIELD(rmsprop, momentum, share),
                                  TROUPE_FIELD(rmsprop, epsilon, above_zero), TROUPE_FIELD(rmsprop, centered, any)};
};
template <> struct option_fields<adadelta> {
  static constexpr std::string_view name = "adadelta";
  static constexpr std::tuple all{TROUPE_FIELD(adadelta, rate, above_zero), TROUPE_FIELD(adadelta, rho, share), TROUPE_FIELD(adadelta, epsilon, above_zero)};
};
template <> struct option_fields<adam> {
  static constexpr std::string_view name = "adam";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(adam)};
};
template <> struct option_fields<adamw> {
  static constexpr std::string_view name = "adamw";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(adamw), TROUPE_FIELD(adamw, weight_decay, share)};
};
template <> struct option_fields<adamax> {
  static constexpr std::string_view name = "adamax";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(adamax)};
};
template <> struct option_fields<amsgrad> {
  static constexpr std::string_view name = "amsgrad";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(amsgrad)};
};
template <> struct option_fields<ftrl> {
  static constexpr std::string_view name = "ftrl";
  static constexpr std::tuple all{TROUPE_FIELD(ftrl, rate, above_zero), TROUPE_FIELD(ftrl, initial_accumulator, above_zero),
                                  TROUPE_FIELD(ftrl, l1, at_least_zero), TROUPE_FIELD(ftrl, l2, at_least_zero),
                                  TROUPE_FIELD(ftrl, l2_shrinkage, at_least_zero), TROUPE_FIELD(ftrl, learning_rate_power, at_most_zero)};
};
template <> struct option_fields<lamb> {
  static constexpr std::string_view name = "lamb";
  static constexpr std::tuple all{TROUPE_ADAM_FIELDS(lamb), TROUPE_FIELD(lamb, weight_decay, at_least_zero)};
};

template <> struct option_fields<constant_rate> {
  static constexpr std::string_view name = "constant";
  static constexpr std::tuple<> all{};
};
template <> struct option_fields<exponential_decay> {
  static constexpr std::string_view name = "exponential";
  static constexpr std::tuple all{TROUPE_FIELD(exponential_decay, decay_steps, at_least_one), TROUPE_FIELD(exponential_decay, decay_rate, above_zero),
                                  TROUPE_FIELD(exponential_decay, staircase, any)};
};
template <> struct option_fields<polynomial_decay> {
  static constexpr std::string_view name = "polynomial";
  static constexpr std::tuple all{TROUPE_FIELD(polynomial_decay, decay_steps, at_least_one), TROUPE_FIELD(polynomial_decay, end_rate, at_least_zero),
                                  TROUPE_FIELD(polynomial_decay, power, above_zero), TROUPE_FIELD(polynomial_decay, cycle, any)};
};
template <> struct option_fields<piecewise_constant> {
  static constexpr std::string_view name = "piecewise";
  static constexpr std::tuple all{TROUPE_FIELD(piecewise_constant, boundaries, at_least_zero), TROUPE_FIELD(piecewise_constant, values, above_zero)};
};
template <> struct option_fields<cosine_decay> {
  static constexpr std::string_view name = "cosine";
  static constexpr std::tuple all{TROUPE_FIELD(cosine_decay, decay_steps, at_least_one), TROUPE_FIELD(cosine_decay, alpha, share)};
};
template <> struct option_fields<cosine_decay_restarts> {
  static constexpr std::string_view name = "cosine_restarts";
  static constexpr std::tuple all{TROUPE_FIELD(cosine_decay_restarts, first_decay_steps, at_least_one),
                                  TROUPE_FIELD(cosine_decay_restarts, t_mul, at_least_one), TROUPE_FIELD(cosine_decay_restarts, m_mul, above_zero),
                                  TROUPE_FIELD(cosine_decay_restarts, alpha, share)};
};
template <> struct option_fields<inverse_sqrt_decay> {
  static constexpr std::string_view name = "inverse_sqrt";
  static constexpr std::tuple all{TROUPE_FIELD(inverse_sqrt_decay, decay_steps, at_least_one)};
};

#undef TROUPE_ADAM_FIELDS
#undef TROUPE_FIELD

/// f(name, value, range) for every field of a rule or a schedule, in the order of its declaration.
template <class Options, class F>
void each_field(Options& options, F f) {
  std::apply([&](const auto&... field) { (f(field.name, options.*field.member, field.range), ...); }, option_fields<std::remove_const_t<Options>>::all);
}
template <class Options>
constexpr std::string_view name_of(const Options&) { return option_fields<Options>::name; }

}  // namespace troupe
