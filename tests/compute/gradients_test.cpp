// Every gradient rule of the registry against central differences in float64, twice: the gradient, and its own gradient.
#include "compute/operation.hpp"

#include "tests/compute/evaluate.hpp"

#include <cmath>
#include <map>

namespace troupe {

using namespace test;

namespace {

/// An expression of inputs whose shapes are given; `shift` moves the inputs away from where a function has no gradient.
struct check {
  std::vector<shape> inputs;
  std::function<symbol(graph&, const std::vector<symbol>&)> build;
  double factor = 1, shift = 0;
  bool second = true;  ///< Check the gradient of the gradient as well.
};

const std::source_location here = std::source_location::current();
using list = const std::vector<symbol>&;

template <auto F>
check unary(double factor = 1, double shift = 0) {
  return {{{3, 2}}, [](graph&, list x) { return F(x[0], here); }, factor, shift};
}
template <auto F>
std::vector<check> binary(double shift = 0) {
  const auto f = [](graph&, list x) { return F(x[0], x[1], here); };
  return {{{{2, 3}, {2, 3}}, f, 1, shift}, {{{2, 3}, {3}}, f, 1, shift}, {{{2, 1}, {1, 3}}, f, 1, shift}, {{{}, {2, 2}}, f, 1, shift}};
}

symbol labels_of(graph& g) { return g.constant(tensor::of<int32_t>({3}, {1, 0, 3})); }

const std::map<std::string_view, std::vector<check>>& checks() {
  static const std::map<std::string_view, std::vector<check>> all = [] {
    std::map<std::string_view, std::vector<check>> c;
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        c["matmul"].push_back({{ta ? shape{4, 2} : shape{2, 4}, tb ? shape{3, 4} : shape{4, 3}},
                               [=](graph&, list x) { return matmul(x[0], x[1], {ta, tb}); }});
    c["add"] = binary<add>();
    c["sub"] = binary<sub>();
    c["mul"] = binary<mul>();
    c["div"] = binary<div>(3);
    c["maximum"] = binary<maximum>();
    c["minimum"] = binary<minimum>();
    c["relu_gradient"] = binary<relu_gradient>();
    c["neg"] = {unary<neg>()};
    c["exp"] = {unary<exp>()};
    c["log"] = {unary<log>(1, 2)};
    c["sqrt"] = {unary<troupe::sqrt>(1, 2)};
    c["square"] = {unary<square>()};
    c["abs"] = {unary<troupe::abs>()};
    c["sign"] = {unary<sign>()};
    c["relu"] = {unary<relu>()};
    c["sigmoid"] = {unary<sigmoid>()};
    c["tanh"] = {unary<tanh>()};
    c["scale"] = {{{{2, 3}}, [](graph&, list x) { return scale_per(x[0], 2.5, {extent{2}}, here); }}};
    c["cast"] = {{{{2}}, [](graph&, list x) { return cast(cast(x[0], dtype::float32), dtype::float64); }, 1, 0, false}};
    for (const std::vector<int>& axes : {std::vector<int>{}, {0}, {1}, {-1}, {0, 2}})
      for (bool keep : {false, true}) {
        c["reduce_sum"].push_back({{{2, 3, 2}}, [=](graph&, list x) { return reduce_sum(x[0], {axes, keep}); }});
        c["reduce_sum"].push_back({{{2, 3, 2}}, [=](graph&, list x) { return reduce_mean(x[0], {axes, keep}); }});
        c["reduce_max"].push_back({{{2, 3, 2}}, [=](graph&, list x) { return reduce_max(x[0], {axes, keep}); }});
      }
    c["reshape"] = {{{{2, 3}}, [](graph&, list x) { return reshape(x[0], {3, 2}); }}};
    c["broadcast_to"] = {{{{2, 1}}, [](graph&, list x) { return broadcast_to(x[0], {3, 2, 4}, here); }}};
    c["concat"] = {{{{2, 3}, {2, 1}, {2, 4}}, [](graph&, list x) { return concat(x); }},
                   {{{3}, {2}}, [](graph&, list x) { return concat(x); }},
                   {{{2, 2, 1}, {2, 2, 2}}, [](graph&, list x) { return concat(x); }}};
    for (const auto& [first, count] : {std::pair{0, 2}, {1, 3}, {3, 2}, {0, 5}})
      c["columns"].push_back({{{2, 5}}, [first = first, count = count](graph&, list x) { return columns(x[0], first, count); }});
    c["softmax"] = {unary<softmax>(3)};
    c["log_softmax"] = {unary<log_softmax>(3)};
    c["sparse_softmax_cross_entropy"] = {{{{3, 4}}, [](graph& g, list x) { return sparse_softmax_cross_entropy(x[0], labels_of(g)); }, 3}};
    c["cross_entropy_gradient"] = {{{{3, 4}, {3}}, [](graph& g, list x) { return cross_entropy_gradient(x[0], labels_of(g), x[1], here); }}};
    c["dropout"] = {{{{20}}, [](graph&, list x) { return dropout(x[0], 0.4, true); }}};
    return c;
  }();
  return all;
}

/// A scalar of the expression that weighs every element differently; with `second`, of its gradients.
symbol scalar_of(graph& g, const check& c, list x, bool second) {
  const auto weigh = [&](symbol y, uint64_t seed) {
    symbol_shape dims = y.dims();
    return reduce_sum(mul(y, g.constant(noise<double>(known_shape(dims), seed))));
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

std::vector<symbol> feed(graph& g, const std::vector<tensor>& at) {
  std::vector<symbol> x;
  for (const auto& t : at) {
    const auto extents = t.dims().extents();
    x.push_back(g.variable({.name = "x" + std::to_string(x.size()), .dims = t.dims(), .type = dtype::float64}));
  }
  return x;
}

/// Plans the scalar and evaluates it, or its gradient, anywhere.
struct function {
  graph g;
  parameter_layout layout;
  std::shared_ptr<parameter_store> store;
  std::unique_ptr<program> p;
  std::shared_ptr<std::byte> gradient;

  function(const check& c, bool second, mode m) {
    model_spec spec;
    spec.mode = m;
    spec.loss = scalar_of(g, c, feed(g, points(c)), second);
    spec.optimizer = gradient_descent{};
    auto made = parameter_layout::of(g, spec.optimizer);
    REQUIRE_MESSAGE(made, (made ? "" : to_string(made.error())));
    layout = *made;
    store = *parameter_store::create(layout, 1);
    auto planned = program::plan(g, spec, layout, {.seed = 5});
    REQUIRE_MESSAGE(planned, (planned ? "" : to_string(planned.error())));
    p = std::move(*planned);
    gradient = allocate_buffer(layout.gradient_bytes());
  }
  double operator()(const std::vector<tensor>& at, bool differentiate) {
    for (size_t i = 0; i < at.size(); ++i)
      REQUIRE(store->assign("x" + std::to_string(i), at[i]));
    const step_input in{.parameters = store->arena(0), .shared = store->shared()};
    CHECK((differentiate ? p->gradients(in, gradient.get()) : p->run(in)) == step_status::ok);
    return p->loss();
  }
};

void check_gradient(const check& c, bool second) {
  function derived{c, second, mode::train}, plain{c, second, mode::evaluate};
  const auto at = points(c);
  derived(at, true);
  const double step = 1e-5;
  for (size_t i = 0; i < at.size(); ++i)
    for (int64_t j = 0; j < at[i].elements(); ++j) {
      const auto moved = [&](double by) {
        auto there = at;
        std::vector<double> x(at[i].as<double>().begin(), at[i].as<double>().end());
        x[static_cast<size_t>(j)] += by;
        there[i] = tensor::of<double>(at[i].dims(), std::span<const double>{x});
        return plain(there, false);
      };
      const double want = (moved(step) - moved(-step)) / (2 * step);
      const auto& e = derived.layout.entries()[static_cast<size_t>(derived.layout.find("x" + std::to_string(i)))];
      const double got = reinterpret_cast<const double*>(derived.gradient.get() + e.gradient_offset)[j];
      INFO("input ", i, " element ", j);
      CHECK(std::abs(got - want) <= 2e-7 + 1e-6 * std::abs(want));
    }
}

}  // namespace

TEST_CASE("every operation has a gradient that central differences confirm, or says that it has none") {
  for (const operation* op : operations()) {
    CAPTURE(op->name);
    if (!op->gradient) {
      CHECK_MESSAGE(!op->no_gradient.empty(), "neither a gradient nor a reason");
      CHECK_FALSE(checks().contains(op->name));
      continue;
    }
    if (op == &ops::stop_gradient)
      continue;  // Wrong by intention: its own case follows.
    REQUIRE_MESSAGE(checks().contains(op->name), "no check is written for it");
    for (const auto& c : checks().at(op->name))
      if (op != &ops::cast)
        check_gradient(c, false);
  }
}

TEST_CASE("gradients can be differentiated again") {
  for (const auto& [name, all] : checks())
    for (const auto& c : all)
      if (c.second) {
        CAPTURE(name);
        check_gradient(c, true);
      }
}

TEST_CASE("a cast between floating types passes the gradient on") {
  const check c = checks().at("cast")[0];
  function derived{c, false, mode::train};
  derived(points(c), true);
  const auto w = noise<double>({2}, 11);
  const auto* got = reinterpret_cast<const double*>(derived.gradient.get());
  for (size_t i = 0; i < 2; ++i)
    CHECK(got[i] == doctest::Approx(w.as<double>()[i]).epsilon(1e-6));
}

TEST_CASE("stop_gradient lets no gradient through") {
  const check c{{{2}, {2}}, [](graph&, list x) { return mul(stop_gradient(x[0]), x[1]); }};
  function derived{c, false, mode::train};
  derived(points(c), true);
  const auto* got = reinterpret_cast<const double*>(derived.gradient.get());
  CHECK(got[0] == 0);
  CHECK(got[1] == 0);
  CHECK(got[8] != 0);
}

TEST_CASE("the gradient of a maximum is shared among those that are equal") {
  const tensor at = tensor::of<double>({4}, {2, 5, 5, 1});
  const check c{{{4}}, [](graph&, list x) { return reduce_max(x[0], {{0}, true}); }};
  function derived{c, false, mode::train};
  derived({at}, true);
  const auto* got = reinterpret_cast<const double*>(derived.gradient.get());
  CHECK(got[1] == got[2]);
  CHECK(got[1] + got[2] == doctest::Approx(noise<double>({1}, 11).as<double>()[0]));
  CHECK(got[0] == 0);
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
