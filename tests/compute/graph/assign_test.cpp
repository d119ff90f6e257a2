// Variables that the model assigns at each step.
#include "tests/compute/operations/values.hpp"

namespace troupe {

using namespace test;

namespace {

/// `w` is trained, `rows` counts rows of two features and is summed over replicas, and `middle` holds their mean.
model_spec counting(graph& g) {
  const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 2});
  const symbol w = g.variable({.name = "w", .dims = {2}, .initial = init::ones()});
  const symbol rows = g.variable({.name = "rows", .dims = {}, .trainable = false, .replicas = combine::sum});
  const symbol middle = g.variable(
      {.name = "middle", .dims = {2}, .type = dtype::float64, .initial = init::constant(9), .trainable = false});
  const symbol ones = cast(equal(x, x), dtype::float32);
  g.assign(rows, add(rows, scale(reduce_sum(ones), 0.5)));
  g.assign(middle, reduce_mean(cast(x, dtype::float64), {{0}}));
  model_spec spec;
  spec.loss = reduce_mean(mul(x, w));
  spec.optimizer = momentum{.rate = 0.5f};
  return spec;
}

/// The message of the error that `build` leaves in a graph.
std::string trouble(const std::function<void(graph&)>& build) {
  graph g;
  build(g);
  return g.status() ? std::string{} : g.status().error().message;
}

bool starts(const std::string& text, std::string_view with) { return text.starts_with(with); }

}  // namespace

TEST_CASE("a step leaves in a variable what is assigned to it, and reads what was there before") {
  trainer t{counting, {.batch = 3}};
  const tensor x = f32({3, 2}, {1, 2, 3, 4, 5, 9});
  for (int64_t step = 0; step < 4; ++step) {
    CHECK(t.value("rows") == f32({}, {static_cast<float>(3 * step)}));
    REQUIRE(t.step({x.data()}, step) == step_status::ok);
    CHECK(t.value("middle") == f64({2}, {3, 5}));
  }
}

TEST_CASE("shards add what each adds to a sum, and the mean of their values is kept of a mean") {
  trainer t{counting, {.batch = 1, .shards = 4}};
  const tensor x = f32({4, 2}, {1, 2, 3, 4, 5, 9, 7, 1});
  for (int64_t step = 0; step < 3; ++step) {
    const auto bytes = static_cast<size_t>(t.layout.gradient_bytes());
    auto sum = allocate_buffer(t.layout.gradient_bytes());
    std::memset(sum.get(), 0, bytes);
    for (int32_t shard = 0; shard < 4; ++shard) {
      REQUIRE(t.run->gradients(t.input({x.data() + shard * 8}, step, shard), t.gradient.get()) == step_status::ok);
      add_gradient(t.layout, sum.get(), t.gradient.get());
    }
    t.run->apply(step, t.whole(), sum.get(), t.store->arena(0), t.store->arena(0));
    CHECK(t.value("rows") == f32({}, {static_cast<float>(4 * (step + 1))}));
    CHECK(t.value("middle") == f64({2}, {4, 4}));
  }
}

TEST_CASE("slices of an update write each assigned variable once, into the arena that is asked for") {
  trainer t{counting, {.batch = 2}, 2};
  const tensor x = f32({2, 2}, {1, 2, 3, 4});
  REQUIRE(t.run->gradients(t.input({x.data()}), t.gradient.get()) == step_status::ok);
  for (int r = 0; r < 3; ++r)
    t.run->apply(0, t.layout.slice(r, 3), t.gradient.get(), t.store->arena(0), t.store->arena(1));
  CHECK(t.value("rows", 1) == f32({}, {2}));
  CHECK(t.value("middle", 1) == f64({2}, {2, 3}));
  CHECK(t.value("rows", 0) == f32({}, {0}));
  CHECK(t.value("middle", 0) == f64({2}, {9, 9}));
  std::map<int32_t, int64_t> seen;
  for (int r = 0; r < 3; ++r)
    for (const auto& piece : t.layout.pieces(r, 3))
      seen[piece.entry] += piece.count;
  for (size_t i = 0; i < t.layout.entries().size(); ++i)
    CHECK(seen[static_cast<int32_t>(i)] == t.layout.entries()[i].dims.elements());
}

TEST_CASE("what is assigned is checked with the gradient: a value that is not finite is seen before it is kept") {
  trainer t{[](graph& g) {
              model_spec spec;
              const symbol w = g.variable({.name = "w", .dims = {2}}),
                           x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 2});
              g.assign(g.variable({.name = "v", .dims = {}, .trainable = false}), log(reduce_sum(x)));
              spec.loss = reduce_mean(mul(x, w));
              spec.optimizer = gradient_descent{};
              return spec;
            },
            {.batch = 1}};
  const tensor good = f32({1, 2}, {1, 2}), bad = f32({1, 2}, {-1, -2});
  REQUIRE(t.run->gradients(t.input({good.data()}), t.gradient.get()) == step_status::ok);
  CHECK(is_finite(t.layout, t.whole(), t.gradient.get()));
  REQUIRE(t.run->gradients(t.input({bad.data()}), t.gradient.get()) == step_status::ok);
  CHECK_FALSE(is_finite(t.layout, t.whole(), t.gradient.get()));
  CHECK(to_string(*first_fault(t.layout, t.gradient.get())) == "what is assigned to variable v has nan");
  const auto origin = t.run->find_fault(t.input({bad.data()}), t.gradient.get());
  REQUIRE(origin);
  CHECK(origin->name == "log");
  CHECK(origin->details.back() == "the loss is finite; not finite is what is assigned to v");
}

TEST_CASE("without an optimizer nothing is assigned") {
  graph g;
  model_spec spec = counting(g);
  spec.mode = mode::evaluate;
  const auto layout = *parameter_layout::of(g, std::nullopt);
  CHECK(layout.gradient_bytes() == 0);
  const auto p = program::make(g, spec, layout, {.batch = 2});
  REQUIRE(p);
  auto store = *parameter_store::create(layout, 1);
  store->initialise(1);
  const tensor x = f32({2, 2}, {1, 2, 3, 4});
  const std::vector<const std::byte*> feeds{x.data()};
  REQUIRE((*p)->run({.parameters = store->arena(0), .shared = store->shared(), .feeds = feeds}) == step_status::ok);
  CHECK(store->view(0, layout.find("middle")) == f64({2}, {9, 9}));
}

TEST_CASE("assign takes one value of a variable's dtype and shape, and none for a trained one") {
  const auto v = [](graph& g, bool trainable = false, combine c = combine::mean) {
    return g.variable({.name = "v", .dims = {2}, .trainable = trainable, .replicas = c});
  };
  const auto two = [](graph& g) { return g.constant(f32({2}, {1, 2})); };
  CHECK(starts(trouble([&](graph& g) { g.assign(v(g, true), two(g)); }), "assign: 'v' is trained by the optimizer ("));
  CHECK(starts(trouble([&](graph& g) {
                 const symbol s = v(g);
                 g.assign(s, two(g));
                 g.assign(s, two(g));
               }),
               "assign: 'v' has been assigned before ("));
  CHECK(starts(trouble([&](graph& g) {
                 const symbol c = two(g);
                 g.assign(c, c);
               }),
               "assign: only a variable can be assigned, not constant ("));
  CHECK(
      starts(trouble([&](graph& g) {
               g.assign(v(g), g.constant(f64({2}, {1, 2})));
             }),
             "assign: 'v' is float32 [2] and the value float64 [2]: both must be floating, of one dtype and shape ("));
  CHECK(trouble([&](graph& g) { g.assign(v(g), two(g)); }).empty());
}

}  // namespace troupe
