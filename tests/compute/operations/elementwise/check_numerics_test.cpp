// A step fails if a value that the model checks is not finite, or a label of any loss.
#include "tests/compute/evaluate.hpp"
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <troupe/losses.hpp>

#include <cmath>

namespace troupe {

using namespace test;

namespace {

const std::source_location here = std::source_location::current();
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// The message of the step's error; empty if there is none.
std::string error_of(const std::function<symbol(graph&)>& loss, mode m) {
  trainer t(
      [&](graph& g) {
        model_spec spec;
        spec.mode = m;
        spec.loss = loss(g);
        spec.optimizer = gradient_descent{};
        return spec;
      },
      {});
  const auto status = m == mode::train ? t.run->gradients(t.input({}), t.gradient.get()) : t.run->run(t.input({}));
  if (status == step_status::ok)
    return {};
  CHECK(status == (status | step_status::bad_input));
  CHECK(t.run->last_error().category == errc::invalid_argument);
  return t.run->last_error().message;
}

}  // namespace

TEST_CASE(
    "check_numerics passes on what is finite, and names node, message, element and place of the first that is not") {
  const double most = std::numeric_limits<double>::max();
  CHECK(value([&](graph& g) {
          return check_numerics(g.constant(f64({2, 2}, {0, -most, most, 5e-324})), "x", here);
        })
        == f64({2, 2}, {0, -most, most, 5e-324}));
  CHECK(value([&](graph& g) { return check_numerics(g.constant(f64({0}, {})), "x", here); }).elements() == 0);
  for (const double wrong : {nan, inf, -inf})
    for (const bool wide : {false, true}) {
      const std::string said = error_of(
          [&](graph& g) {
            const auto scope = g.scope("tower");
            const symbol v = g.variable(
                {.name = "v", .dims = {2, 3}, .type = wide ? dtype::float64 : dtype::float32, .initial = init::ones()});
            const symbol x = wide ? g.constant(f64({2, 3}, {1, 2, 3, 4, 5, wrong}))
                                  : g.constant(tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, static_cast<float>(wrong)}));
            return reduce_sum(check_numerics(x * v, "the product", here));
          },
          mode::evaluate);
      CAPTURE(said);
      CHECK(has(said, std::isnan(wrong) ? "the product: nan at [1, 2] is not finite: tower/check_numerics ("
                      : wrong > 0       ? "the product: inf at [1, 2]"
                                        : "the product: -inf at [1, 2]"));
      CHECK(has(said, "check_numerics_test.cpp:" + std::to_string(here.line()) + ")"));
    }
}

TEST_CASE("check_numerics looks at the gradient too, as TensorFlow's does") {
  // The square root of 0 is finite, but its gradient is not.
  const auto loss = [](bool checked) {
    return [checked](graph& g) {
      const symbol v = g.variable({.name = "v", .dims = {3}, .initial = init::zeros()});
      return reduce_sum(troupe::sqrt(checked ? check_numerics(square(v), "squares", here) : square(v)));
    };
  };
  CHECK(error_of(loss(false), mode::train).empty());
  CHECK(error_of(loss(true), mode::evaluate).empty());
  CHECK(has(error_of(loss(true), mode::train),
            "gradient of squares: inf at [0] is not finite: gradients/check_numerics"));
}

TEST_CASE("a label that is not finite is an error of the step that names its loss, value and place") {
  const auto labelled = [](auto loss) {
    return [loss](double label) {
      return [=](graph& g) {
        const symbol p = g.variable(
            {.name = "p", .dims = {2, 2}, .type = dtype::float64, .initial = init::constant(0.5)});
        return loss(g.constant(f64({2, 2}, {0, 1, label, 0})), p);
      };
    };
  };
  const auto check = [&](std::string_view name, auto loss) {
    CAPTURE(name);
    const auto of = labelled(loss);
    for (const mode m : {mode::train, mode::evaluate}) {
      CHECK(error_of(of(1), m).empty());
      CHECK(
          has(error_of(of(nan), m), "labels: nan at [1, 0] is not finite: " + std::string{name} + "/check_numerics ("));
      CHECK(has(error_of(of(inf), m), "labels: inf at [1, 0]"));
    }
  };
  check("softmax_cross_entropy", [](symbol y, symbol p) { return losses::softmax_cross_entropy(y, p); });
  check("sigmoid_cross_entropy", [](symbol y, symbol p) { return losses::sigmoid_cross_entropy(y, p); });
  check("squared", [](symbol y, symbol p) { return losses::squared(y, p); });
  check("absolute", [](symbol y, symbol p) { return losses::absolute(y, p); });
  check("huber", [](symbol y, symbol p) { return losses::huber(y, p); });
  check("hinge", [](symbol y, symbol p) { return losses::hinge(y, p); });
  check("log", [](symbol y, symbol p) { return losses::log(y, p); });
  check("kl_divergence", [](symbol y, symbol p) { return losses::kl_divergence(y, p); });
}

TEST_CASE("check_numerics takes floating numbers only") {
  graph g;
  check_numerics(g.constant(i32({2}, {1, 2})), "x");
  REQUIRE_FALSE(g.status());
  CHECK(has(g.status().error().message, "check_numerics: its operand must be floating, not int32 [2]"));
}

}  // namespace troupe
