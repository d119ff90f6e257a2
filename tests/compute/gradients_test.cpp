// Every gradient rule of the registry against central differences in float64, twice: the gradient, and its own gradient.
#include "compute/operation.hpp"

#include "tests/compute/evaluate.hpp"
#include "tests/compute/gradient_checks.hpp"

#include <cmath>

namespace troupe {

using namespace test;

namespace {

using list = const std::vector<symbol>&;

/// A scalar of the expression that weighs every element differently; with `second`, of its gradients.
symbol scalar_of(graph& g, const check& c, list x, bool second) {
  const auto weigh = [&](symbol y, uint64_t seed) {
    return reduce_sum(mul(y, g.constant(noise<double>(known_shape(y.dims()), seed))));
  };
  symbol y = weigh(c.build(g, x), 11);
  if (second) {
    symbol sum;
    for (symbol dx : gradients(y, x)) {
      const symbol term = weigh(dx, 12 + static_cast<uint64_t>(sum.node()));
      sum = sum.valid() ? add(sum, term) : term;
    }
    y = sum;
  }
  return y;
}

std::vector<tensor> points(const check& c) {
  std::vector<tensor> all;
  for (const shape& dims : c.inputs) {
    const tensor raw = noise<double>(dims, 100 + all.size());
    std::vector<double> x(raw.as<double>().begin(), raw.as<double>().end());
    for (double& v : x)
      v = v * c.factor + c.shift;
    all.push_back(tensor::of<double>(dims, std::span<const double>{x}));
  }
  return all;
}

/// The scalar and its gradients as one program of fed inputs, to be evaluated anywhere.
struct function {
  graph g;
  std::unique_ptr<program> p;

  function(const check& c, bool second) {
    std::vector<symbol> x;
    for (const shape& dims : c.inputs) {
      const auto extents = dims.extents();
      x.push_back(g.placeholder("x" + std::to_string(x.size()), dtype::float64, symbol_shape(extents.begin(), extents.end())));
    }
    model_spec spec;
    spec.mode = mode::predict;
    const symbol y = scalar_of(g, c, x, second);
    spec.predictions["value"] = y;
    for (symbol dx : gradients(y, x))
      spec.predictions["dx" + std::to_string(spec.predictions.size() - 1)] = dx;
    auto planned = program::plan(g, spec, *parameter_layout::of(g, std::nullopt), {.seed = 5});
    REQUIRE_MESSAGE(planned, (planned ? "" : to_string(planned.error())));
    p = std::move(*planned);
  }
  tensor output(const std::string& name) const {
    for (size_t i = 0; i < p->outputs().size(); ++i)
      if (p->outputs()[i].name == name)
        return p->output(static_cast<int32_t>(i));
    return {};
  }
  double operator()(const std::vector<tensor>& at) const {
    std::vector<const std::byte*> feeds;
    for (const auto& t : at)
      feeds.push_back(t.data());
    CHECK(p->run({.feeds = feeds}) == step_status::ok);
    return output("value").as<double>()[0];
  }
  std::vector<tensor> gradients_at(const std::vector<tensor>& at) const {
    (*this)(at);
    std::vector<tensor> all;
    for (size_t i = 0; i < at.size(); ++i)
      all.push_back(output("dx" + std::to_string(i)));
    return all;
  }
};

void check_gradient(const check& c, bool second) {
  const function f{c, second};
  const auto at = points(c);
  const auto derived = f.gradients_at(at);
  const double step = 1e-5;
  for (size_t i = 0; i < at.size(); ++i) {
    REQUIRE(derived[i].dims() == at[i].dims());
    for (int64_t j = 0; j < at[i].elements(); ++j) {
      const auto moved = [&](double by) {
        auto there = at;
        std::vector<double> x(at[i].as<double>().begin(), at[i].as<double>().end());
        x[static_cast<size_t>(j)] += by;
        there[i] = tensor::of<double>(at[i].dims(), std::span<const double>{x});
        return f(there);
      };
      const double want = (moved(step) - moved(-step)) / (2 * step);
      const double got = derived[i].as<double>()[static_cast<size_t>(j)];
      INFO("input ", i, " ", to_string(at[i].dims()), " element ", j);
      CHECK(std::abs(got - want) <= 2e-7 + 1e-6 * std::abs(want));
    }
  }
}

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
  const auto got = function{c, false}.gradients_at(points(c));
  const auto w = noise<double>({2}, 11);
  for (size_t i = 0; i < 2; ++i)
    CHECK(got[0].as<double>()[i] == doctest::Approx(w.as<double>()[i]).epsilon(1e-6));
}

TEST_CASE("stop_gradient lets no gradient through") {
  const check c{{{2}, {2}}, [](graph&, list x) { return mul(stop_gradient(x[0]), x[1]); }};
  const auto got = function{c, false}.gradients_at(points(c));
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
