// Four variables with made-up gradients, which an optimizer updates in any number of slices.
#pragma once

#include "compute/program/planned_update.hpp"
#include "tests/compute/model_fixture.hpp"

#include <cmath>

namespace troupe::test {

inline const char* const names[] = {"a/kernel", "a/bias", "b/kernel", "b/scale"};

/// Variables of both dtypes, some longer than a chunk of a norm, with made-up gradients.
struct made_up {
  graph g;
  optimizer o;
  parameter_layout layout;
  std::shared_ptr<parameter_store> store;
  std::shared_ptr<std::byte> gradient;
  planned_update update;

  explicit made_up(optimizer by) : o(std::move(by)) {
    for (const auto& [name, n, type] : {std::tuple{"a/kernel", int64_t{9001}, dtype::float32},
                                        {"a/bias", int64_t{5}, dtype::float32},
                                        {"b/kernel", int64_t{777}, dtype::float32},
                                        {"b/scale", int64_t{4100}, dtype::float64}})
      g.variable({.name = name, .dims = {n}, .type = type, .initial = init::normal(0, 1)});
    auto made = parameter_layout::of(g, o);
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    layout = *made;
    store = *parameter_store::create(layout, 1);
    store->initialise(3);
    gradient = allocate_buffer(layout.gradient_bytes());
    auto planned = planned_update::of(o, layout);
    REQUIRE_MESSAGE(planned, (planned ? "" : to_text(planned.error())));
    update = std::move(*planned);
  }
  const parameter_entry& entry(std::string_view name) const {
    return layout.entries()[static_cast<size_t>(layout.find(name))];
  }
  tensor value(std::string_view name) const { return store->view(0, layout.find(name)); }
  tensor copy(std::string_view name) const {
    return tensor::copy_of(value(name).type(), value(name).dims(), value(name).bytes());
  }

  /// Fills the gradient with noise times `size`. A variable's noise does not depend on its offset.
  void draw(int64_t step, double size) {
    std::memset(gradient.get(), 0, static_cast<size_t>(layout.gradient_bytes()));
    for (const auto& e : layout.entries()) {
      if (e.gradient_offset < 0)
        continue;
      const auto number = std::find(std::begin(names), std::end(names), e.name) - std::begin(names);
      const tensor x = noise<double>(e.dims, static_cast<uint64_t>(step * 10 + number));
      for (int64_t i = 0; i < e.dims.elements(); ++i)
        if (const double v = size * x.as<double>()[static_cast<size_t>(i)]; e.type == dtype::float64)
          reinterpret_cast<double*>(gradient.get() + e.gradient_offset)[i] = v;
        else
          reinterpret_cast<float*>(gradient.get() + e.gradient_offset)[i] = static_cast<float>(v);
    }
  }
  /// Slices are measured by themselves, the last one first, as replicas do that share the sums.
  void apply(int64_t step, int replicas = 1) {
    std::vector<double> squares(static_cast<size_t>(update.norm_chunks()));
    const auto whole = whole_gradient(layout, gradient.get());
    for (int r = replicas - 1; r >= 0; --r)
      update.measure(layout.slice(r, replicas), whole, squares);
    update.prepare(whole, squares);
    for (int r = replicas - 1; r >= 0; --r) {
      const auto slice = layout.slice(r, replicas);
      update.apply(step, slice, gradient.get(), store->arena(0), store->arena(0));
    }
  }
  bool same_as(const made_up& other) const {
    return std::memcmp(store->arena(0), other.store->arena(0), static_cast<size_t>(layout.arena_bytes())) == 0;
  }
  double element(const tensor& t, int64_t i) const {
    return t.type() == dtype::float64 ? t.as<double>()[static_cast<size_t>(i)]
                                      : static_cast<double>(t.as<float>()[static_cast<size_t>(i)]);
  }
  double gradient_norm(std::string_view name) const {
    const auto& e = entry(name);
    double sum = 0;
    for (int64_t i = 0; i < e.dims.elements(); ++i) {
      const double v = e.type == dtype::float64
                           ? reinterpret_cast<const double*>(gradient.get() + e.gradient_offset)[i]
                           : static_cast<double>(reinterpret_cast<const float*>(gradient.get() + e.gradient_offset)[i]);
      sum += v * v;
    }
    return std::sqrt(sum);
  }
  /// The distance that one step of gradient descent with rate 1 has moved a variable.
  double moved(std::string_view name, const tensor& before) const {
    const tensor after = value(name);
    double sum = 0;
    for (int64_t i = 0; i < before.elements(); ++i)
      sum += std::pow(element(after, i) - element(before, i), 2);
    return std::sqrt(sum);
  }
};

inline optimizer descent() { return gradient_descent{.rate = 1}; }

}  // namespace troupe::test
