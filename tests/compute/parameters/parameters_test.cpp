#include "compute/parameters/assign_range.hpp"
#include "compute/parameters/parameter_store.hpp"
#include "tests/compute/model_fixture.hpp"
#include "tests/support/has.hpp"

#include <cmath>
#include <numeric>

namespace troupe {

using namespace test;

namespace {

/// Declares variables of both dtypes, some of them not trainable.
graph& declare(graph& g) {
  g.variable({.name = "a", .dims = {3, 5}});
  g.variable({.name = "b", .dims = {7}, .type = dtype::float64});
  g.variable({.name = "frozen", .dims = {2}, .initial = init::constant(4), .trainable = false});
  g.variable({.name = "c", .dims = {100}});
  g.variable({.name = "d", .dims = {}, .type = dtype::float64});
  return g;
}

tensor drawn(const initializer& i, const shape& dims, const std::string& name = "w", uint64_t seed = 1) {
  graph g;
  g.variable({.name = name, .dims = dims, .initial = i});
  auto store = *parameter_store::create(*parameter_layout::of(g, gradient_descent{}), 1);
  store->initialise(seed);
  return store->view(0, 0);
}

std::pair<double, double> moments(const tensor& t) {
  double mean = 0, square = 0;
  for (float v : t.as<float>()) {
    mean += static_cast<double>(v);
    square += static_cast<double>(v) * static_cast<double>(v);
  }
  const auto n = static_cast<double>(t.elements());
  return {mean / n, std::sqrt(square / n - mean / n * mean / n)};
}

}  // namespace

TEST_CASE("a layout keeps a dtype together, aligns every variable and gives slots the same order") {
  graph g;
  const auto layout = *parameter_layout::of(declare(g), adam{});
  CHECK(layout.entries().size() == 4 * 3 + 1);
  CHECK(layout.gradient_bytes() == 64 + 448 + 64 + 64);
  for (const char* name : {"a", "b", "c", "d"}) {
    const auto& v = layout.entries()[static_cast<size_t>(layout.find(name))];
    CHECK(v.offset % 64 == 0);
    CHECK(v.gradient_offset % 64 == 0);
    CHECK((v.trainable && v.updated && !v.slot));
    for (const char* slot : {"/Adam", "/Adam_1"}) {
      REQUIRE(layout.find(std::string{name} + slot) >= 0);
      const auto& s = layout.entries()[static_cast<size_t>(layout.find(std::string{name} + slot))];
      CHECK((s.slot && s.updated && !s.trainable && s.dims == v.dims && s.type == v.type && s.gradient_offset == -1));
    }
  }
  const auto at = [&](std::string_view name) {
    return layout.entries()[static_cast<size_t>(layout.find(name))].offset;
  };
  CHECK(at("c") - at("a") == at("c/Adam") - at("a/Adam"));
  CHECK(at("d") - at("b") == at("d/Adam_1") - at("b/Adam_1"));
  const auto& frozen = layout.entries()[static_cast<size_t>(layout.find("frozen"))];
  CHECK((!frozen.updated && !frozen.trainable && frozen.gradient_offset == -1));
  CHECK(layout.shared_bytes() == 64);
}

TEST_CASE("no two entries share a byte") {
  graph g;
  const auto layout = *parameter_layout::of(declare(g), adam{});
  std::vector<int> owner(static_cast<size_t>(layout.arena_bytes()), 0);
  for (const auto& e : layout.entries())
    if (e.updated)
      for (int64_t i = 0; i < e.dims.elements() * size_of(e.type); ++i)
        CHECK(++owner[static_cast<size_t>(e.offset + i)] == 1);
}

TEST_CASE("slices are disjoint, aligned and together everything, for every number of replicas") {
  graph g;
  const auto layout = *parameter_layout::of(declare(g), momentum{});
  for (int R : {1, 2, 3, 4, 7, 16}) {
    int64_t at = 0;
    std::vector<std::vector<int>> seen;
    for (const auto& e : layout.entries())
      seen.emplace_back(static_cast<size_t>(e.dims.elements()));
    for (int r = 0; r < R; ++r) {
      const auto [first, last] = layout.slice(r, R);
      CHECK(first == at);
      CHECK(first % 64 == 0);
      at = last;
      for (const auto& piece : layout.pieces(r, R))
        for (int64_t i = 0; i < piece.count; ++i)
          ++seen[static_cast<size_t>(piece.entry)][static_cast<size_t>(piece.first + i)];
    }
    CHECK(at == layout.gradient_bytes());
    for (const auto& counts : seen)
      for (int n : counts)
        CHECK(n == 1);
  }
}

TEST_CASE("a graph without an optimizer has nothing that is updated") {
  graph g;
  const auto layout = *parameter_layout::of(declare(g), std::nullopt);
  CHECK(layout.entries().size() == 5);
  CHECK(layout.arena_bytes() == 0);
  CHECK(layout.gradient_bytes() == 0);
  for (const auto& e : layout.entries())
    CHECK_FALSE(e.updated);
}

TEST_CASE("a name that a slot has already taken is refused") {
  graph g;
  g.variable({.name = "w", .dims = {2}});
  g.variable({.name = "w/Momentum", .dims = {2}});
  const auto layout = parameter_layout::of(g, momentum{});
  REQUIRE_FALSE(layout);
  CHECK(layout.error().message == "two variables or slots are named 'w/Momentum'");
}

TEST_CASE("an assigned value is read back, and one of another shape is refused with both") {
  graph g;
  auto store = *parameter_store::create(*parameter_layout::of(declare(g), momentum{}), 2);
  const tensor x = noise<float>({3, 5}, 4);
  REQUIRE(store->assign("a", x));
  CHECK(store->view(0, store->layout().find("a")) == x);
  CHECK_FALSE(store->view(1, store->layout().find("a")) == x);
  CHECK(store->view(0, parameter_piece{store->layout().find("a"), 5, 5}) == x.slice(1, 1).reshape({5}));
  CHECK(store->assign("a", noise<float>({5, 3}, 4)).error().message == "'a' is float32 [3, 5], not float32 [5, 3]");
  CHECK(store->assign("z", x).error().category == errc::not_found);
}

TEST_CASE("a run is written where its elements belong, and one that reaches beyond them is refused with both") {
  graph g;
  const auto store = *parameter_store::create(*parameter_layout::of(declare(g), momentum{}), 1);
  const auto x = noise<float>({3, 5}, 3);
  const auto run_of = [&](int64_t first, int64_t count) {
    return tensor{x.type(), shape{count}, std::shared_ptr<const std::byte>{x.buffer(), x.data() + 4 * first}};
  };
  for (const auto& [first, count] : {std::pair<int64_t, int64_t>{0, 4}, {4, 1}, {5, 0}, {5, 10}, {15, 0}})
    REQUIRE(assign_range(*store, "a", first, run_of(first, count)));
  CHECK(store->view(0, store->layout().find("a")) == x);
  CHECK(assign_range(*store, "a", 12, run_of(0, 4)).error().message
        == "'a' is float32 [3, 5], and has no range of float32 [4] from element 12 on");
  CHECK_FALSE(assign_range(*store, "a", -1, run_of(0, 1)));
  CHECK_FALSE(assign_range(*store, "a", INT64_MAX, run_of(0, 1)));
  CHECK_FALSE(assign_range(*store, "a", 0, noise<double>({2}, 4)));
  CHECK(assign_range(*store, "z", 0, run_of(0, 1)).error().category == errc::not_found);
  CHECK(store->view(0, store->layout().find("a")) == x);
}

TEST_CASE("a view outlives the store") {
  graph g;
  tensor view;
  {
    auto store = *parameter_store::create(*parameter_layout::of(declare(g), momentum{}), 1);
    store->initialise(1);
    view = store->view(0, store->layout().find("frozen"));
  }
  CHECK(view.as<float>()[1] == 4);
}

TEST_CASE("Glorot's and He's bounds hold and are reached") {
  const auto extremes = [](const tensor& t) {
    const auto x = t.as<float>();
    return std::pair{*std::min_element(x.begin(), x.end()), *std::max_element(x.begin(), x.end())};
  };
  const auto check_within = [&](const initializer& i, double limit) {
    const auto [least, greatest] = extremes(drawn(i, {200, 100}));
    CHECK(static_cast<double>(least) >= -limit);
    CHECK(static_cast<double>(greatest) <= limit);
    CHECK(static_cast<double>(least) < -0.999 * limit);
    CHECK(static_cast<double>(greatest) > 0.999 * limit);
  };
  check_within(init::glorot_uniform(), std::sqrt(6.0 / 300));
  check_within(init::he_uniform(), std::sqrt(6.0 / 200));
  check_within(init::uniform(-0.25, 0.25), 0.25);
}

TEST_CASE("LeCun's bound holds, and a convolution's kernel has the field in its fans") {
  const auto greatest = [](const tensor& t) {
    float most = 0;
    for (float v : t.as<float>())
      most = std::max(most, std::abs(v));
    return static_cast<double>(most);
  };
  const auto check_limit = [&](const initializer& i, const shape& dims, double limit) {
    const double most = greatest(drawn(i, dims));
    CHECK(most <= limit);
    CHECK(most > 0.99 * limit);
  };
  check_limit(init::lecun_uniform(), {200, 100}, std::sqrt(3.0 / 200));
  check_limit(init::lecun_uniform(), {3, 5, 8, 16}, std::sqrt(3.0 / (3 * 5 * 8)));
  check_limit(init::he_uniform(), {3, 5, 8, 16}, std::sqrt(6.0 / (3 * 5 * 8)));
  check_limit(init::glorot_uniform(), {3, 5, 8, 16}, std::sqrt(6.0 / (3 * 5 * (8 + 16))));
  CHECK(moments(drawn(init::lecun_normal(), {3, 3, 20, 300})).second
        == doctest::Approx(std::sqrt(1.0 / 180)).epsilon(0.01));
}

TEST_CASE("an orthogonal start has orthonormal columns, or rows where these are fewer, times the gain") {
  for (const auto& [dims, rows] :
       {std::pair<shape, int64_t>{{40, 24}, 40}, {{24, 40}, 24}, {{33, 33}, 33}, {{3, 2, 5, 7}, 30}, {{1, 6}, 1}}) {
    graph g;
    g.variable({.name = "w", .dims = dims, .type = dtype::float64, .initial = init::orthogonal(1.5)});
    auto store = *parameter_store::create(*parameter_layout::of(g, gradient_descent{}), 1);
    store->initialise(1);
    const tensor t = store->view(0, 0);
    const auto w = t.as<double>();
    const int64_t columns = dims.elements() / rows, count = std::min(rows, columns), length = std::max(rows, columns);
    const auto element = [&](int64_t vector, int64_t i) {
      return w[static_cast<size_t>(rows < columns ? vector * columns + i : i * columns + vector)];
    };
    for (int64_t a = 0; a < count; ++a)
      for (int64_t b = 0; b <= a; ++b) {
        double product = 0;
        for (int64_t i = 0; i < length; ++i)
          product += element(a, i) * element(b, i);
        CHECK(std::abs(product - (a == b ? 1.5 * 1.5 : 0)) < 1e-14);
      }
  }
  CHECK(drawn(init::orthogonal(), {8, 8}) == drawn(init::orthogonal(), {8, 8}));
  CHECK_FALSE(drawn(init::orthogonal(), {8, 8}) == drawn(init::orthogonal(), {8, 8}, "v"));
  CHECK_FALSE(drawn(init::orthogonal(), {8, 8}) == drawn(init::orthogonal(), {8, 8}, "w", 2));
}

TEST_CASE("no element of an orthogonal start is favoured, nor a sign of it") {
  double mean = 0, square = 0;
  constexpr int draws = 2000;
  for (int seed = 0; seed < draws; ++seed) {
    const tensor t = drawn(init::orthogonal(), {3, 3}, "w", static_cast<uint64_t>(seed));
    const auto corner = static_cast<double>(t.as<float>()[8]);
    mean += corner / draws;
    square += corner * corner / draws;
  }
  CHECK(std::abs(mean) < 0.05);
  CHECK(square == doctest::Approx(1.0 / 3).epsilon(0.05));
}

TEST_CASE("a vector cannot start orthogonal") {
  graph g;
  g.variable({.name = "bias", .dims = {3}, .initial = init::orthogonal()});
  REQUIRE_FALSE(g.status());
  CHECK(has(g.status().error().message,
            "variable: 'bias' is float32 [3], which cannot start orthogonal: that takes a floating matrix"));
}

TEST_CASE("a variable starts with the values that it is given, whatever the seed, and its slots do not") {
  const tensor start = tensor::of<float>({2, 2}, {1, -2, 3, 4.5f});
  CHECK(drawn(init::values(start), {2, 2}) == start);
  CHECK(drawn(init::values(start), {2, 2}, "w", 9) == start);
  graph g;
  g.variable({.name = "w", .dims = {2, 2}, .initial = init::values(start)});
  g.variable({.name = "count",
              .dims = {},
              .type = dtype::int64,
              .initial = init::values(tensor::scalar<int64_t>(7)),
              .trainable = false});
  auto store = *parameter_store::create(*parameter_layout::of(g, momentum{}), 1);
  store->initialise(1);
  CHECK(store->view(0, store->layout().find("w/Momentum")) == tensor::zeros(dtype::float32, {2, 2}));
  CHECK(store->view(0, store->layout().find("count")) == tensor::scalar<int64_t>(7));
}

TEST_CASE("values of another shape or dtype than the variable are refused with both, its name and the line") {
  const auto why = [](const tensor& start) {
    graph g;
    const auto scope = g.scope("tower");
    g.variable({.name = "w", .dims = {2, 2}, .initial = init::values(start)});
    REQUIRE_FALSE(g.status());
    return g.status().error().message;
  };
  CHECK(why(tensor::zeros(dtype::float32, {4}))
            .starts_with("tower/variable: 'tower/w' is float32 [2, 2], and its initial values are float32 [4] ("));
  CHECK(has(why(tensor::zeros(dtype::float64, {2, 2})),
            "'tower/w' is float32 [2, 2], and its initial values are float64 [2, 2]"));
  CHECK(why({}).ends_with("parameters_test.cpp:" + std::to_string(__LINE__ - 8) + ")"));
}

TEST_CASE("normal initialisers have the deviation they are named for") {
  const auto check_moments = [&](const initializer& i, double mean, double deviation) {
    const auto [m, d] = moments(drawn(i, {300, 200}));
    CHECK(std::abs(m - mean) < 0.02 * deviation);
    CHECK(d == doctest::Approx(deviation).epsilon(0.01));
  };
  check_moments(init::normal(3, 2), 3, 2);
  check_moments(init::truncated_normal(0, 1), 0, 0.8796);
  check_moments(init::glorot_normal(), 0, std::sqrt(2.0 / 500));
  check_moments(init::he_normal(), 0, std::sqrt(2.0 / 300));
  const tensor truncated = drawn(init::truncated_normal(0, 1), {1000, 10});
  for (float v : truncated.as<float>())
    REQUIRE(std::abs(v) <= 2);
  const tensor ones = drawn(init::ones(), {2});
  CHECK(ones.as<float>()[1] == 1);
}

TEST_CASE("a starting value depends on seed and name, not on the order of creation") {
  graph g, h;
  for (const char* name : {"one", "two"})
    g.variable({.name = name, .dims = {20}, .initial = init::normal(0, 1)});
  for (const char* name : {"two", "three", "one"})
    h.variable({.name = name, .dims = {20}, .initial = init::normal(0, 1)});
  auto a = *parameter_store::create(*parameter_layout::of(g, adam{}), 1),
       b = *parameter_store::create(*parameter_layout::of(h, adam{}), 1);
  a->initialise(5);
  b->initialise(5);
  const auto value = [](parameter_store& s, const char* name) { return s.view(0, s.layout().find(name)); };
  CHECK(value(*a, "one") == value(*b, "one"));
  CHECK(value(*a, "two") == value(*b, "two"));
  CHECK_FALSE(value(*a, "one") == value(*a, "two"));
  const tensor before = tensor::copy_of(dtype::float32, {20}, value(*a, "one").bytes());
  a->initialise(6);
  CHECK_FALSE(value(*a, "one") == before);
}

}  // namespace troupe
