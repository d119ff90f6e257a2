// Gradients of variables that are only looked up: the rows that occur, their sums, and which tables have dense ones.
#include "tests/compute/optimizers/looked_up_table.hpp"
#include "tests/support/has.hpp"

#include <troupe/optimizer.hpp>

namespace troupe {

using namespace test;

TEST_CASE("a gradient written over another has nothing of it, and marks the rows that occur") {
  table<float> m{200, 5, momentum{}}, fresh{200, 5, momentum{}}, dense{200, 5, momentum{}, reads::twice_densely};
  for (int64_t step = 0; step < 3; ++step)
    REQUIRE(m.gradients(step) == step_status::ok);
  REQUIRE(fresh.gradients(2) == step_status::ok);  // The gradient's memory was filled with 0xff before.
  REQUIRE(dense.gradients(2) == step_status::ok);
  CHECK(std::memcmp(m.t.gradient.get(), fresh.t.gradient.get(), static_cast<size_t>(m.t.layout.gradient_bytes())) == 0);
  const auto& s = m.t.layout.sparse()[0];
  const auto* bits = reinterpret_cast<const uint64_t*>(m.t.gradient.get() + s.bits);
  const auto g = gradient_in<float>(m.t, m.t.gradient.get()), all = gradient_in<float>(dense.t, dense.t.gradient.get());
  for (int64_t row = 0; row < 200; ++row) {
    CHECK((bits[row / 64] >> (row % 64) & 1) == (m.occurs(row) ? 1 : 0));
    for (int64_t j = 0; j < 5; ++j)
      CHECK(g[static_cast<size_t>(row * 5 + j)]
            == doctest::Approx(static_cast<double>(all[static_cast<size_t>(row * 5 + j)])));
  }
}

TEST_CASE("sums of sparse gradients are those of dense ones, and can be written over again") {
  table<float> a{200, 5, momentum{}}, b{200, 5, momentum{}}, again{200, 5, momentum{}};
  REQUIRE(a.gradients(0) == step_status::ok);
  REQUIRE(b.gradients(1) == step_status::ok);
  auto want = gradient_in<float>(a.t, a.t.gradient.get());
  const auto other = gradient_in<float>(b.t, b.t.gradient.get());
  for (size_t i = 0; i < want.size(); ++i)
    want[i] += other[i];
  add_gradient(a.t.layout, a.t.gradient.get(), b.t.gradient.get());
  CHECK(gradient_in<float>(a.t, a.t.gradient.get()) == want);
  CHECK(is_finite(a.t.layout, a.t.whole(), a.t.gradient.get()));
  // The rows of both gradients are marked. The next gradient written must clear these marks.
  REQUIRE(a.gradients(2) == step_status::ok);
  REQUIRE(again.gradients(2) == step_status::ok);
  CHECK(std::memcmp(a.t.gradient.get(), again.t.gradient.get(), static_cast<size_t>(a.t.layout.gradient_bytes())) == 0);
}

TEST_CASE("a row that occurs and is not finite is found, in the slices that have part of it") {
  table<float> m{200, 5, momentum{}};
  REQUIRE(m.gradients(0) == step_status::ok);
  const auto& s = m.t.layout.sparse()[0];
  CHECK(is_finite(m.t.layout, m.t.whole(), m.t.gradient.get()));
  for (const int64_t row : {static_cast<int64_t>(m.a.as<int32_t>()[0]), m.b.as<int64_t>()[5]})
    for (const int64_t j : {0, 4}) {
      const int64_t at = s.first + row * s.row_bytes + 4 * j;
      auto& element = *reinterpret_cast<float*>(m.t.gradient.get() + at);
      const float before = std::exchange(element, std::numeric_limits<float>::infinity());
      CHECK_FALSE(is_finite(m.t.layout, m.t.whole(), m.t.gradient.get()));
      for (int r = 0; r < 3; ++r) {
        const auto slice = m.t.layout.slice(r, 3);
        CHECK(is_finite(m.t.layout, slice, m.t.gradient.get()) == (at < slice.first || slice.second <= at));
      }
      element = before;
    }
}

TEST_CASE("a table that the model also reads otherwise, or does not read at all, has a dense gradient") {
  const auto sparse = [](const std::function<void(graph&, symbol, symbol)>& use, const optimizer& o = momentum{}) {
    graph g;
    const symbol w = g.variable({.name = "w", .dims = {4, 4}}), other = g.variable({.name = "other", .dims = {4}});
    use(g, w, other);
    return parameter_layout::of(g, o)->sparse().size();
  };
  const auto at = [](graph& g) { return g.constant(tensor::of<int32_t>({2}, {1, 2})); };
  CHECK(sparse([&](graph& g, symbol w, symbol) { gather(w, at(g)); }) == 1);
  CHECK(sparse([&](graph& g, symbol w, symbol other) {
          gather(w, at(g));
          gather(other, at(g));
          gather(w, at(g));
        })
        == 2);
  CHECK(sparse([](graph&, symbol, symbol) {}) == 0);
  CHECK(sparse([&](graph& g, symbol w, symbol) { gather(w, at(g), 1); }) == 0);
  CHECK(sparse([&](graph& g, symbol w, symbol) { matmul(gather(w, at(g)), w, {.transpose_b = true}); }) == 0);
  CHECK(sparse([&](graph& g, symbol w, symbol) { gather(w, at(g)); }, lamb{}) == 0);
  CHECK(sparse([&](graph& g, symbol w, symbol) { gather(w, at(g)); }, {.groups = {{.prefix = "w", .frozen = true}}})
        == 0);
}

TEST_CASE("a table that the loss does not depend on has a gradient of zeros, and no row of it occurs") {
  trainer t(
      [](graph& g) {
        const symbol w = g.variable({.name = "w", .dims = {70, 3}}), v = g.variable({.name = "v", .dims = {3}});
        gather(w, g.constant(tensor::of<int32_t>({2}, {1, 2})));
        model_spec spec;
        spec.loss = reduce_sum(square(v));
        spec.optimizer = momentum{};
        return spec;
      },
      {});
  REQUIRE(t.step({}, 0) == step_status::ok);
  const auto& s = t.layout.sparse()[0];
  for (float g : t.gradient_of<float>("w"))
    CHECK(g == 0);
  for (int i = 0; i < 2; ++i)
    CHECK(reinterpret_cast<const uint64_t*>(t.gradient.get() + s.bits)[i] == 0);
}

TEST_CASE(
    "a store whose table is only looked up does not serve a graph that does more with it, and the error says so") {
  table<float> m{40, 5, momentum{}};
  graph g;
  model_spec spec;
  spec.loss = reduce_sum(square(g.variable({.name = "w", .dims = {40, 5}})));
  spec.optimizer = momentum{};
  const auto planned = program::make(g, spec, m.t.layout, {});
  REQUIRE_FALSE(planned);
  CHECK(planned.error().message
        == "this graph does more with variable 'w' than to look rows up, as the one that the store was made for does");
}

}  // namespace troupe
