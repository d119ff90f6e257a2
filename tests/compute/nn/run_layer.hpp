// Runs layers whose variables have known values, so that a formula can use the same values.
#pragma once

#include "tests/compute/gradient_check.hpp"
#include "tests/compute/operations/values.hpp"

#include <map>

namespace troupe::test {

/// The outputs of a layer and its variables, in float64.
struct layer_run {
  std::map<std::string, tensor> values;
  std::map<std::string, tensor> variables;

  const tensor& value(const std::string& name = "value") const { return values.at(name); }
  std::vector<double> of(const std::string& variable) const {
    REQUIRE_MESSAGE(variables.contains(variable), variable);
    return numbers(variables.at(variable));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, t] : variables)
      all.push_back(name);
    return all;
  }
};

using named_values = std::map<std::string, symbol>;

/// Each variable has its initial value plus noise of at most `spread`.
inline layer_run run_layers(const std::function<named_values(graph&)>& build, double spread = 0.5) {
  graph g;
  model_spec spec;
  spec.mode = mode::predict;
  spec.predictions = build(g);
  const auto layout = parameter_layout::of(g, std::nullopt);
  REQUIRE_MESSAGE(layout, (layout ? "" : to_text(layout.error())));
  auto p = program::make(g, spec, *layout, {});
  REQUIRE_MESSAGE(p, (p ? "" : to_text(p.error())));
  auto store = *parameter_store::create(*layout, 1);
  store->initialise(3);
  layer_run run;
  for (const auto& e : layout->entries()) {
    const auto start = numbers(store->view(0, layout->find(e.name))),
               by = numbers(noise<double>(e.dims, 50 + run.variables.size()));
    std::vector<double> x(start.size());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = start[i] + spread * by[i];
    run.variables[e.name] = tensor::of<double>(e.dims, std::span<const double>{x});
    REQUIRE(store->assign(e.name, run.variables[e.name]));
  }
  REQUIRE((*p)->run({.parameters = store->arena(0), .shared = store->shared()}) == step_status::ok);
  for (size_t i = 0; i < (*p)->outputs().size(); ++i)
    run.values[to_string((*p)->outputs()[i])] = (*p)->output(static_cast<int32_t>(i));
  return run;
}

inline layer_run run_layer(const std::function<symbol(graph&)>& build, double spread = 0.5) {
  return run_layers([&](graph& g) { return named_values{{"value", build(g)}}; }, spread);
}

/// Checks the gradients of the inputs and of the layer's variables, and the gradients of these.
inline void check_layer_gradients(std::vector<shape> inputs,
                                  std::function<symbol(graph&, const std::vector<symbol>&)> build, double factor = 1) {
  const check c{.inputs = std::move(inputs), .build = std::move(build), .factor = factor};
  check_gradient(c, false);
  check_gradient(c, true);
}

// -- arithmetic by hand ---------------------------------------------------------------

using vec = std::vector<double>;

inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// [m, k] · [k, n]
inline vec product(const vec& a, const vec& b, int64_t m, int64_t k, int64_t n) {
  vec y(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        y[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
  return y;
}

/// Adds `b` to each row.
inline vec plus_rows(vec x, const vec& b) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] += b[i % b.size()];
  return x;
}

}  // namespace troupe::test
