// Updates against the formulas of the header, written out in float64.
#include <troupe/optimizer.hpp>

#include "tests/compute/model_fixture.hpp"

#include <cmath>

namespace troupe {

using namespace test;

namespace {

struct reference {
  double v, m = 0, s = 0;

  void update(const gradient_descent& o, int, double g) { v -= static_cast<double>(o.rate) * g; }
  void update(const momentum& o, int, double g) {
    m = static_cast<double>(o.decay) * m + g;
    v -= static_cast<double>(o.rate) * (o.nesterov ? g + static_cast<double>(o.decay) * m : m);
  }
  void update(const adam& o, int t, double g) {
    const double b1 = o.beta1, b2 = o.beta2;
    m = b1 * m + (1 - b1) * g;
    s = b2 * s + (1 - b2) * g * g;
    v -= static_cast<double>(o.rate) * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t)) * m / (std::sqrt(s) + static_cast<double>(o.epsilon));
  }
};

/// Three steps on loss = Σ c·w³/3, whose gradient c·w² changes as w does.
template <class T>
void check_steps(const optimizer& o, double tolerance) {
  constexpr dtype type = dtype_of<T>::value;
  const tensor start = noise<T>({37}, 1), c = noise<T>({37}, 2);
  trainer t([&](graph& g) {
    const symbol w = g.variable({.name = "w", .dims = {37}, .type = type});
    model_spec spec;
    spec.loss = reduce_sum(g.constant(c) * w * square(w)) / g.constant(tensor::scalar<T>(3));
    spec.optimizer = o;
    return spec;
  }, {});
  REQUIRE(t.store->assign("w", start));
  std::vector<reference> want;
  for (T v : start.as<T>())
    want.push_back({static_cast<double>(v)});
  for (int step = 0; step < 3; ++step) {
    t.step({}, step);
    for (size_t i = 0; i < want.size(); ++i) {
      const double g = static_cast<double>(c.as<T>()[i]) * want[i].v * want[i].v;
      std::visit([&](const auto& kind) { want[i].update(kind, step + 1, g); }, o);
      REQUIRE(static_cast<double>(t.value("w").as<T>()[i]) == doctest::Approx(want[i].v).epsilon(tolerance));
    }
  }
}

}  // namespace

TEST_CASE("three steps of each optimizer follow its formula in both floating types") {
  for (const optimizer& o : {optimizer{gradient_descent{.rate = 0.1f}}, optimizer{momentum{.rate = 0.1f, .decay = 0.8f}},
                             optimizer{momentum{.rate = 0.1f, .nesterov = true}}, optimizer{adam{.rate = 0.1f}}}) {
    CAPTURE(to_string(o));
    check_steps<double>(o, 1e-12);
    check_steps<float>(o, 2e-5);
  }
}

TEST_CASE("options that cannot be right are refused by field and value") {
  const auto message = [](const optimizer& o) {
    const auto valid = validate(o);
    return valid ? std::string{} : valid.error().message;
  };
  CHECK(message(adam{}).empty());
  CHECK(message(gradient_descent{.rate = 0}) == "gradient_descent: rate must be above 0, not 0");
  CHECK(message(momentum{.decay = 1}) == "momentum: decay must be in [0, 1), not 1");
  CHECK(message(adam{.beta2 = -0.5f}) == "adam: beta2 must be in [0, 1), not -0.5");
  CHECK(message(adam{.epsilon = 0}) == "adam: epsilon must be above 0, not 0");
  CHECK(message(adam{.rate = std::nanf("")}) == "adam: rate must be above 0, not nan");
}

TEST_CASE("an optimizer prints its options") {
  CHECK(to_string(optimizer{adam{}}) == "adam(rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08)");
  CHECK(to_string(optimizer{momentum{.nesterov = true}}) == "momentum(rate = 0.01, decay = 0.9, nesterov)");
}

}  // namespace troupe
