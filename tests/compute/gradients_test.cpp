// Every gradient rule of the registry against central differences in float64, twice: the gradient, and its own gradient.
#include "compute/operation.hpp"

#include "tests/compute/gradient_checks.hpp"

namespace troupe {

using namespace test;

namespace {

using list = const std::vector<symbol>&;

}  // namespace

TEST_CASE("every operation has a gradient that central differences confirm, or says that it has none") {
  for (const operation* op : operations()) {
    CAPTURE(op->name);
    if (!op->gradient) {
      CHECK_MESSAGE(!op->no_gradient.empty(), "neither a gradient nor a reason");
      CHECK_FALSE(gradient_checks().contains(op->name));
      continue;
    }
    if (op == &ops::stop_gradient)
      continue;  // Wrong by intention: its own case follows.
    REQUIRE_MESSAGE(gradient_checks().contains(op->name), "no check is written for it");
    for (const auto& c : gradient_checks().at(op->name))
      if (op != &ops::cast)
        check_gradient(c, false);
  }
}

TEST_CASE("gradients can be differentiated again") {
  for (const auto& [name, all] : gradient_checks())
    for (const auto& c : all)
      if (c.second) {
        CAPTURE(name);
        check_gradient(c, true);
      }
}

TEST_CASE("a cast between floating types passes the gradient on") {
  const check c = gradient_checks().at("cast")[0];
  const function f{c, false};
  const auto got = f.gradients_at(f.start);
  const auto w = noise<double>({2}, 11);
  for (size_t i = 0; i < 2; ++i)
    CHECK(got[0].as<double>()[i] == doctest::Approx(w.as<double>()[i]).epsilon(1e-6));
}

TEST_CASE("stop_gradient lets no gradient through") {
  const check c{{{2}, {2}}, [](graph&, list x) { return mul(stop_gradient(x[0]), x[1]); }};
  const function f{c, false};
  const auto got = f.gradients_at(f.start);
  CHECK(got[0] == tensor::of<double>({2}, {0, 0}));
  CHECK(got[1].as<double>()[0] != 0);
}

TEST_CASE("the gradient of a maximum is shared among those that are equal") {
  const tensor at = tensor::of<double>({4}, {2, 5, 5, 1});
  const check c{{{4}}, [](graph&, list x) { return reduce_max(x[0], {{0}, true}); }};
  const auto all = function{c, false}.gradients_at({at});
  const auto got = all[0].as<double>();
  CHECK(got[1] == got[2]);
  CHECK(got[1] + got[2] == doctest::Approx(noise<double>({1}, 11).as<double>()[0]));
  CHECK(got[0] == 0);
}

TEST_CASE("the gradient of a product is right with zeros among its factors") {
  const check c{{{4}}, [](graph&, list x) { return reduce_prod(x[0]); }};
  const double w = noise<double>({}, 11).as<double>()[0];
  const auto at = [&](std::initializer_list<double> x) { return function{c, false}.gradients_at({tensor::of<double>({4}, x)})[0]; };
  CHECK(at({2, 0, 3, 5}) == tensor::of<double>({4}, {0, 30 * w, 0, 0}));
  CHECK(at({2, 0, 0, 5}) == tensor::of<double>({4}, {0, 0, 0, 0}));
}

TEST_CASE("gradients refuse what has none, and name it") {
  graph g;
  const symbol x = g.variable({.name = "x", .dims = {3}});
  SUBCASE("y of many numbers") {
    gradients(x, std::vector{x});
    REQUIRE_FALSE(g.status());
    CHECK(g.status().error().message.find("y must be one floating number, not float32 [3]") != std::string::npos);
  }
  SUBCASE("an operation without a gradient on the way") {
    gradients(reduce_sum(cast(equal(x, x), dtype::float32)), std::vector{x});
    REQUIRE_FALSE(g.status());
    CHECK(g.status().error().message.find("no gradient") != std::string::npos);
  }
  SUBCASE("what y does not depend on gets zeros") {
    const symbol z = g.variable({.name = "z", .dims = {2}});
    const auto d = gradients(reduce_sum(x), std::vector{x, z});
    CHECK(g.status());
    CHECK(d[1].dims() == symbol_shape{2});
  }
}

}  // namespace troupe
