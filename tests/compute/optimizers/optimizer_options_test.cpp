// Learning rates as functions of the step; options that are refused; options as text.
#include "tests/support/has.hpp"

#include <troupe/options/optimizer_fields.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace troupe {

using test::has;

namespace {

doctest::Approx about(double x) { return doctest::Approx(x).epsilon(1e-6); }

std::string message(const optimizer& o) {
  const auto valid = validate(o);
  return valid ? std::string{} : valid.error().message;
}

optimizer with(learning_rate_schedule s, float rate = 0.5f) {
  return {.rule = gradient_descent{.rate = rate}, .schedule = std::move(s)};
}

}  // namespace

TEST_CASE("a rate without a schedule is the rule's own at every step") {
  for (int64_t step : {0, 1, 1000000})
    CHECK(rate_at(adam{.rate = 0.25f}, step) == 0.25);
}

TEST_CASE("exponential decay multiplies by the rate of decay each period, in stairs or smoothly") {
  const auto smooth = with(exponential_decay{.decay_steps = 10, .decay_rate = 0.25f});
  CHECK(rate_at(smooth, 0) == 0.5);
  CHECK(rate_at(smooth, 5) == about(0.25));
  CHECK(rate_at(smooth, 20) == about(0.03125));
  const auto stairs = with(exponential_decay{.decay_steps = 10, .decay_rate = 0.25f, .staircase = true});
  CHECK(rate_at(stairs, 9) == 0.5);
  CHECK(rate_at(stairs, 10) == 0.125);
  CHECK(rate_at(stairs, 19) == 0.125);
}

TEST_CASE("polynomial decay ends at its end rate, and with cycle begins again lower") {
  const auto once = with(polynomial_decay{.decay_steps = 10, .end_rate = 0.1f, .power = 2});
  CHECK(rate_at(once, 0) == about(0.5));
  CHECK(rate_at(once, 5) == about(0.4 * 0.25 + 0.1));
  CHECK(rate_at(once, 10) == about(0.1));
  CHECK(rate_at(once, 1000) == about(0.1));
  const auto cycle = with(polynomial_decay{.decay_steps = 10, .end_rate = 0.1f, .cycle = true});
  CHECK(rate_at(cycle, 10) == about(0.1));
  CHECK(rate_at(cycle, 11) == about(0.4 * 9 / 20 + 0.1));
  CHECK(rate_at(cycle, 20) == about(0.1));
}

TEST_CASE("a piecewise rate changes after its boundary, as TensorFlow's does") {
  const auto o = with(piecewise_constant{.boundaries = {3, 7}, .values = {1, 0.5f, 0.25f}});
  CHECK(rate_at(o, 0) == 1);
  CHECK(rate_at(o, 3) == 1);
  CHECK(rate_at(o, 4) == 0.5);
  CHECK(rate_at(o, 7) == 0.5);
  CHECK(rate_at(o, 8) == 0.25);
}

TEST_CASE("a cosine falls from the rate to its share alpha and stays there") {
  const auto o = with(cosine_decay{.decay_steps = 8, .alpha = 0.2f});
  CHECK(rate_at(o, 0) == about(0.5));
  CHECK(rate_at(o, 4) == about(0.5 * (0.8 * 0.5 + 0.2)));
  CHECK(rate_at(o, 8) == about(0.1));
  CHECK(rate_at(o, 9) == about(0.1));
}

TEST_CASE("a cosine with restarts begins each period at its very first step") {
  const auto o = with(cosine_decay_restarts{.first_decay_steps = 10, .t_mul = 2, .m_mul = 0.5f});
  CHECK(rate_at(o, 9) == about(0.25 * (1 + std::cos(0.9 * M_PI))));
  CHECK(rate_at(o, 10) == about(0.25));
  CHECK(rate_at(o, 20) == about(0.125));
  CHECK(rate_at(o, 30) == about(0.125));
  CHECK(rate_at(o, 70) == about(0.0625));
  const auto even = with(cosine_decay_restarts{.first_decay_steps = 3, .t_mul = 1});
  for (int64_t step : {0, 3, 300, 3000000})
    CHECK(rate_at(even, step) == about(0.5));
  CHECK(rate_at(even, 301) == rate_at(even, 1));
}

TEST_CASE("an inverse square root with as long a warm-up is that of the Transformer") {
  // The Transformer's rate is d^-0.5 · min(t^-0.5, t · n^-1.5), which needs the base rate (d·n)^-0.5.
  const double n = 16, d = 64;
  const optimizer o{.rule = adam{.rate = static_cast<float>(1 / std::sqrt(d * n))},
                    .schedule = inverse_sqrt_decay{.decay_steps = 16},
                    .warmup_steps = 16};
  for (int t : {1, 2, 15, 16, 17, 64, 10000})
    CHECK(rate_at(o, t - 1) == about(std::pow(d, -0.5) * std::min(std::pow(t, -0.5), t * std::pow(n, -1.5))));
}

TEST_CASE("a warm-up rises in equal parts to what the schedule says at that step") {
  auto o = with(exponential_decay{.decay_steps = 10, .decay_rate = 0.5f});
  const auto cold = o;
  o.warmup_steps = 4;
  for (int64_t step = 0; step < 8; ++step)
    CHECK(rate_at(o, step) == about(rate_at(cold, step) * std::min(1.0, static_cast<double>(step + 1) / 4)));
}

TEST_CASE("options that cannot be right are refused by field and value") {
  CHECK(message(adam{}).empty());
  CHECK(message(gradient_descent{.rate = 0}) == "gradient_descent: rate must be above 0, not 0");
  CHECK(message(momentum{.decay = 1}) == "momentum: decay must be in [0, 1), not 1");
  CHECK(message(adam{.beta2 = -0.5f}) == "adam: beta2 must be in [0, 1), not -0.5");
  CHECK(message(adam{.epsilon = 0}) == "adam: epsilon must be above 0, not 0");
  CHECK(message(adam{.rate = std::nanf("")}) == "adam: rate must be above 0, not nan");
  CHECK(message(adagrad{.initial_accumulator = 0}) == "adagrad: initial_accumulator must be above 0, not 0");
  CHECK(message(ftrl{.l1 = -1}) == "ftrl: l1 must be at least 0, not -1");
  CHECK(message(ftrl{.learning_rate_power = 0.5f}) == "ftrl: learning_rate_power must be at most 0, not 0.5");
  CHECK(message(proximal_gradient_descent{.l2 = -0.5f})
        == "proximal_gradient_descent: l2 must be at least 0, not -0.5");
  CHECK(message(lamb{.weight_decay = INFINITY}) == "lamb: weight_decay must be finite, not inf");
  CHECK(message(with(cosine_decay{})) == "schedule cosine: decay_steps must be at least 1, not 0");
  CHECK(message(with(cosine_decay_restarts{.first_decay_steps = 5, .t_mul = 0.5f}))
        == "schedule cosine_restarts: t_mul must be at least 1, not 0.5");
  CHECK(message(with(piecewise_constant{{5, 9}, {1, 2}}))
        == "schedule piecewise: values must be one more than the 2 boundaries, not 2");
  CHECK(message(with(piecewise_constant{{5, 5}, {1, 2, 3}}))
        == "schedule piecewise: boundaries must ascend, not be [5, 5]");
  CHECK(message(with(piecewise_constant{{5}, {1, 0}})) == "schedule piecewise: values[1] must be above 0, not 0");
  CHECK(message({.warmup_steps = -1}) == "optimizer: warmup_steps must be at least 0, not -1");
  CHECK(message({.clip = {.norm = -1}}) == "optimizer: clip.norm must be at least 0, not -1");
  CHECK(message({.weight_decay = 1}) == "optimizer: weight_decay must be in [0, 1), not 1");
  CHECK(message({.moving_average = 1}) == "optimizer: moving_average must be in [0, 1), not 1");
  CHECK(message({.moving_average_ramps = true})
        == "optimizer: moving_average_ramps means nothing without a moving_average");
  CHECK(message({.groups = {{.frozen = true}}}) == "optimizer: groups[0] has neither a prefix nor a suffix");
  CHECK(message({.groups = {{.prefix = "a"}, {.prefix = "b", .rate_factor = 0}}})
        == "optimizer: groups[1].rate_factor must be above 0, not 0");
  CHECK(message({.rule = adamw{}, .weight_decay = 0.1f})
        == "optimizer: weight_decay is given to adamw, which has a weight_decay of its own");
  CHECK(has(message({.rule = ftrl{}, .weight_decay = 0.1f}), "weight_decay means nothing to ftrl"));
  CHECK(has(message({.rule = ftrl{}, .schedule = cosine_decay{.decay_steps = 5}}), "ftrl divides by the rate"));
  const auto grouped = [](variable_group g) {
    return optimizer{.schedule = cosine_decay{.decay_steps = 5}, .weight_decay = 0.1f, .groups = {std::move(g)}};
  };
  CHECK(message(grouped({.prefix = "a", .rule = momentum{.decay = 1}}))
        == "optimizer: groups[0].rule.decay must be in [0, 1), not 1");
  CHECK(message(grouped({.prefix = "a", .rule = momentum{}, .frozen = true}))
        == "optimizer: groups[0] has a rule, which means nothing to frozen variables");
  CHECK(has(message(grouped({.prefix = "a", .rule = ftrl{}})), "weight_decay means nothing to ftrl"));
  CHECK(has(message(grouped({.prefix = "a", .rule = ftrl{}, .weight_decay = 0.0f})), "ftrl divides by the rate"));
  CHECK(message(grouped({.prefix = "a", .rule = adamw{}})).empty());
  CHECK(has(message({.groups = {{.prefix = "a", .rule = ftrl{}, .weight_decay = 0.1f}}}),
            "weight_decay means nothing to ftrl"));
}

TEST_CASE("an optimizer prints its rule, and of the rest what is not the default") {
  CHECK(to_text(optimizer{adam{}}) == "adam(rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08)");
  CHECK(to_text(momentum{.nesterov = true}) == "momentum(rate = 0.01, decay = 0.9, nesterov)");
  const optimizer all{.rule = ftrl{},
                      .schedule = piecewise_constant{.boundaries = {5}, .values = {1, 0.5f}},
                      .warmup_steps = 3,
                      .reduce = reduction::sum,
                      .clip = {.value = 2, .global_norm = 1},
                      .groups = {{.prefix = "a", .suffix = "/bias", .rate_factor = 2, .weight_decay = 0.0f},
                                 {.prefix = "b", .frozen = true}},
                      .moving_average = 0.99f,
                      .moving_average_ramps = true};
  CHECK(to_text(all)
        == "ftrl(rate = 0.01, initial_accumulator = 0.1, l1 = 0, l2 = 0, l2_shrinkage = 0, learning_rate_power = "
           "-0.5), "
           "schedule = piecewise(boundaries = [5], values = [1, 0.5]), warmup_steps = 3, reduce = sum, "
           "clip.value = 2, "
           "clip.global_norm = 1, "
           "group(\"a*/bias\", rate_factor = 2, weight_decay = 0), group(\"b*\", frozen), moving_average = 0.99, "
           "moving_average_ramps");
  CHECK(to_text(optimizer{.rule = gradient_descent{}, .groups = {{.prefix = "a", .rule = adagrad{.rate = 0.5f}}}})
        == "gradient_descent(rate = 0.01), group(\"a*\", adagrad(rate = 0.5, initial_accumulator = 0.1))");
}

}  // namespace troupe
