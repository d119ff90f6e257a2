// Compares gradients with central differences in float64.
#pragma once

#include "compute/graph/graph.hpp"
#include "tests/compute/evaluate.hpp"

#include <cmath>

namespace troupe::test {

/// An expression of inputs with the given shapes. `shift` moves the inputs away from points where a function has no
/// gradient. Variables of the expression are inputs as well, with values near their initial ones.
struct check {
  std::vector<shape> inputs;
  std::function<symbol(graph&, const std::vector<symbol>&)> build;
  double factor = 1, shift = 0;
  bool second = true;  ///< Also check the gradient of the gradient.
};

/// The inputs, followed by the variables that the expression has created.
inline std::vector<symbol> with_variables(graph& g, std::vector<symbol> x) {
  for (const auto& v : contents_of(g).variables)
    x.push_back(symbol_of(g, v.node));
  return x;
}

/// A weighted sum of the expression's elements, with a different weight for each; with `second`, of its gradients'
/// elements.
inline symbol scalar_of(graph& g, const check& c, const std::vector<symbol>& x, bool second) {
  const auto weigh = [&](symbol y, uint64_t seed) {
    return reduce_sum(mul(y, g.constant(noise<double>(known_shape(y.dims()), seed))));
  };
  symbol y = weigh(c.build(g, x), 11);
  if (second) {
    symbol sum;
    for (symbol dx : gradients(y, with_variables(g, x))) {
      const symbol term = weigh(dx, 12 + static_cast<uint64_t>(sum.node()));
      sum = sum.valid() ? add(sum, term) : term;
    }
    y = sum;
  }
  return y;
}

/// A program for the scalar and its gradients, whose inputs can be fed at any point.
struct function {
  graph g;
  std::unique_ptr<program> p;
  std::shared_ptr<parameter_store> store;
  std::vector<tensor> start;  ///< The point around which it is evaluated.

  function(const check& c, bool second, const program_options& options = {.seed = 5}) {
    std::vector<symbol> x;
    for (const shape& dims : c.inputs) {
      const auto extents = dims.extents();
      x.push_back(
          g.placeholder("x" + std::to_string(x.size()), dtype::float64, symbol_shape(extents.begin(), extents.end())));
    }
    model_spec spec;
    spec.mode = mode::predict;
    const symbol y = scalar_of(g, c, x, second);
    spec.predictions["value"] = y;
    for (symbol dx : gradients(y, with_variables(g, x)))
      spec.predictions["dx" + std::to_string(spec.predictions.size() - 1)] = dx;
    const auto layout = *parameter_layout::of(g, std::nullopt);
    auto planned = program::make(g, spec, layout, options);
    REQUIRE_MESSAGE(planned, (planned ? "" : to_text(planned.error())));
    p = std::move(*planned);
    store = *parameter_store::create(layout, 1);
    store->initialise(5);
    for (const shape& dims : c.inputs)
      add_start(dims, [&](size_t, double raw) { return raw * c.factor + c.shift; });
    for (const auto& v : contents_of(g).variables) {
      const tensor initial = store->view(0, layout.find(v.options.name));
      add_start(v.options.dims, [&](size_t i, double raw) { return initial.as<double>()[i] + 0.3 * raw; });
    }
  }
  void add_start(const shape& dims, const std::function<double(size_t, double)>& of) {
    const tensor raw = noise<double>(dims, 100 + start.size());
    std::vector<double> x(raw.as<double>().begin(), raw.as<double>().end());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = of(i, x[i]);
    start.push_back(tensor::of<double>(dims, std::span<const double>{x}));
  }
  tensor output(const std::string& name) const {
    for (size_t i = 0; i < p->outputs().size(); ++i)
      if (to_string(p->outputs()[i]) == name)
        return p->output(static_cast<int32_t>(i));
    return {};
  }
  double operator()(const std::vector<tensor>& at) const {
    std::vector<const std::byte*> feeds;
    const auto& variables = contents_of(g).variables;
    const size_t fed = at.size() - variables.size();
    for (size_t i = 0; i < fed; ++i)
      feeds.push_back(at[i].data());
    for (size_t i = 0; i < variables.size(); ++i)
      REQUIRE(store->assign(variables[i].options.name, at[fed + i]));
    CHECK(p->run({.parameters = store->arena(0), .shared = store->shared(), .feeds = feeds}) == step_status::ok);
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

inline void check_gradient(const check& c, bool second) {
  const function f{c, second};
  const auto& at = f.start;
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
      INFO("input ", i, " ", to_text(at[i].dims()), " element ", j);
      CHECK(std::abs(got - want) <= 2e-7 + 1e-6 * std::abs(want));
    }
  }
}

}  // namespace troupe::test
