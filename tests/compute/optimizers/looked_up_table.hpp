// A table of which each step looks up some rows, trained by any optimizer.
#pragma once

#include "tests/compute/model_fixture.hpp"

#include <troupe/optimizer.hpp>

namespace troupe::test {

inline constexpr int64_t lookups = 12;

/// How a model reads its table: by one lookup or two; `_densely`: also as a whole.
enum class reads : uint8_t { twice, twice_densely, once, once_densely };
inline bool is_dense(reads how) { return how == reads::twice_densely || how == reads::once_densely; }

/// Lookups of `lookups` rows each in one table. The gradient of a row is the sum of x and of w over its occurrences.
template <class T>
inline model_spec looked_up(graph& g, int64_t rows, int64_t units, const optimizer& o, reads how) {
  constexpr dtype type = dtype_of<T>::value;
  symbol w = g.variable({.name = "w", .dims = {rows, units}, .type = type});
  const symbol x = g.placeholder("x", type, {lookups, units});
  const symbol a = g.placeholder("a", dtype::int32, {3, lookups / 3}), b = g.placeholder("b", dtype::int64, {lookups});
  if (is_dense(how))
    w = w + g.constant(tensor::scalar<T>(0));
  const symbol of_b = gather(w, b);
  const bool two = how == reads::twice || how == reads::twice_densely;
  const symbol of_a = two ? reshape(gather(w, a), {lookups, units}) : of_b;
  model_spec spec;
  spec.loss = reduce_sum(x * of_a) + reduce_sum(square(of_b)) / g.constant(tensor::scalar<T>(2));
  spec.optimizer = o;
  return spec;
}

/// The rows that occur at a step, some of them more than once. The last third of the table never occurs.
template <class Index>
inline std::vector<Index> drawn(int64_t rows, uint64_t seed) {
  std::vector<Index> all;
  const tensor at = noise<double>({lookups}, seed);
  for (double u : at.as<double>())
    all.push_back(static_cast<Index>((u + 1) / 2 * static_cast<double>(rows * 2 / 3)));
  all[1] = all[0];
  return all;
}

template <class T>
struct table {
  int64_t rows, units;
  trainer t;
  tensor x, a, b;

  table(int64_t n, int64_t m, const optimizer& o, reads how = reads::twice, int arenas = 1)
    : rows(n), units(m), t([&](graph& g) { return looked_up<T>(g, n, m, o, how); }, {}, arenas) {
    CHECK(t.layout.sparse().size() == (is_dense(how) || std::holds_alternative<lamb>(o.rule) ? 0 : 1));
    REQUIRE(t.store->assign("w", noise<T>({n, m}, 1)));
    if (o.moving_average > 0)
      REQUIRE(t.store->assign("w/ExponentialMovingAverage", noise<T>({n, m}, 1)));
  }
  void draw(int64_t step) {
    x = noise<T>({lookups, units}, static_cast<uint64_t>(100 + step));
    const auto at_a = drawn<int32_t>(rows, static_cast<uint64_t>(3 * step));
    const auto at_b = drawn<int64_t>(rows, static_cast<uint64_t>(3 * step + 1));
    a = tensor::of<int32_t>({3, lookups / 3}, std::span<const int32_t>{at_a});
    b = tensor::of<int64_t>({lookups}, std::span<const int64_t>{at_b});
  }
  step_status gradients(int64_t step) {
    draw(step);
    return t.run->gradients(t.input({x.data(), a.data(), b.data()}, step), t.gradient.get());
  }
  void step(int64_t step, int replicas = 1, int from = 0, int to = 0) {
    draw(step);
    const std::vector<const std::byte*> feeds{x.data(), a.data(), b.data()};
    auto in = t.input(feeds, step);
    in.parameters = t.store->arena(from);
    REQUIRE(t.run->gradients(in, t.gradient.get()) == step_status::ok);
    for (int r = 0; r < replicas; ++r)
      t.run->apply(step, t.layout.slice(r, replicas), t.gradient.get(), t.store->arena(from), t.store->arena(to));
  }
  /// Compares the variable and its slots, without padding.
  bool same_as(const table& other, int arena = 0) const {
    for (size_t i = 0; i < t.layout.entries().size(); ++i)
      if (!(t.store->view(arena, static_cast<int32_t>(i)) == other.t.store->view(0, static_cast<int32_t>(i))))
        return false;
    return true;
  }
  bool occurs(int64_t row) const {
    return std::find(a.as<int32_t>().begin(), a.as<int32_t>().end(), static_cast<int32_t>(row)) != a.as<int32_t>().end()
           || std::find(b.as<int64_t>().begin(), b.as<int64_t>().end(), row) != b.as<int64_t>().end();
  }
};

/// The gradient of the variable, without the row bits that follow it.
template <class T>
inline std::vector<T> gradient_in(const trainer& t, const std::byte* gradient) {
  const auto& e = t.layout.entries()[static_cast<size_t>(t.layout.find("w"))];
  const T* g = reinterpret_cast<const T*>(gradient + e.gradient_offset);
  return {g, g + e.dims.elements()};
}

}  // namespace troupe::test
