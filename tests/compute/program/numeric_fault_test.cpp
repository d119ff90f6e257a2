#include "compute/program/numeric_fault.hpp"

#include "compute/engine/step_engine.hpp"
#include "compute/graph/graph.hpp"
#include "compute/kernels/element_text.hpp"
#include "tests/compute/model_fixture.hpp"
#include "tests/support/has.hpp"

#include <cmath>
#include <functional>
#include <limits>

namespace troupe {

using namespace test;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

/// The loss is the mean of f(x, w), over batches of 4 rows of 3 numbers; w is a variable of 3.
struct one_layer {
  trainer t;
  tensor x = tensor::of<float>({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

  explicit one_layer(std::function<symbol(symbol x, symbol w)> f, std::vector<float> initial = {1, 1, 1})
    : t(
        [f](graph& g) {
          const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 3});
          const symbol w = g.variable({.name = "layer/w", .dims = {3}});
          model_spec spec;
          spec.mode = mode::train;
          spec.loss = reduce_mean(f(x, w));
          spec.optimizer = gradient_descent{};
          return spec;
        },
        {.batch = 4, .fuse = false}) {
    REQUIRE(t.store->assign("layer/w", tensor::of<float>({3}, std::span<const float>{initial})));
  }
  std::optional<numeric_fault> find() { return t.run->find_fault(t.input({x.data()}), t.gradient.get()); }
  numeric_fault found() {
    const auto fault = find();
    REQUIRE(fault);
    return *fault;
  }
};

bool says(const numeric_fault& f, const std::string& part) {
  return std::any_of(f.details.begin(), f.details.end(),
                     [&](const auto& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("the logarithm of a negative number is named with its line and the element it was given") {
  one_layer m{[](symbol x, symbol w) { return log(add(x, w)); }, {1, -20, 1}};
  const auto f = m.found();
  CHECK(f.what == numeric_fault::kind::operation);
  CHECK(to_string(f) == "the first operation with such a result is log: nan at [0, 1]");
  CHECK(says(f, "log is log at numeric_fault_test.cpp:"));
  CHECK(says(f, "4 of its 12 elements are not finite"));
  CHECK(says(f, "operand add: float32 [4, 3], from -18 to 13; -18 at [0, 1]"));
}

TEST_CASE("a division by zero is named with both operands, and not the relu after it") {
  one_layer m{[](symbol x, symbol w) { return relu(div(w, sub(x, w))); }, {-4, 5, 1}};
  const auto f = m.found();
  CHECK(to_string(f) == "the first operation with such a result is div: inf at [1, 1]");
  CHECK(says(f, "operand variable layer/w: float32 [3], from -4 to 5"));
  CHECK(says(f, "operand sub: float32 [4, 3], from -3 to 14; 0 at [1, 1]"));
}

TEST_CASE("an overflow of exp is named, and not the difference of infinities that follows") {
  one_layer m{[](symbol x, symbol w) {
                const symbol e = exp(mul(x, w));
                return sub(e, e);
              },
              {1, 1, 60}};
  CHECK(to_string(m.found()) == "the first operation with such a result is exp: inf at [0, 2]");
}

TEST_CASE("a value that is infinite and stays without effect is no fault") {
  // log 0 is -inf, and e^-inf is 0.
  const auto harmless = [](symbol x, symbol w) { return exp(log(mul(stop_gradient(x), stop_gradient(w)))); };
  one_layer fine{[&](symbol x, symbol w) { return add(harmless(x, w), w); }, {0, 1, 1}};
  CHECK(fine.t.run->gradients(fine.t.input({fine.x.data()}), fine.t.gradient.get()) == step_status::ok);
  CHECK_FALSE(fine.find());
  one_layer other{[&](symbol x, symbol w) { return sqrt(sub(harmless(x, w), scale(w, 100))); }, {0, 1, 1}};
  CHECK(to_string(other.found()) == "the first operation with such a result is sqrt: nan at [0, 1]");
}

TEST_CASE("what was fed is named with its row, before any operation") {
  one_layer m{[](symbol x, symbol w) { return mul(x, w); }};
  m.x = tensor::of<float>({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, inf, 10, nan, 12});
  const auto f = m.found();
  CHECK(f.what == numeric_fault::kind::feed);
  CHECK(f.row == 2);
  CHECK(to_string(f) == "row 2 of the batch has inf at [2] in component x");
  CHECK(says(f, "x: float32 [4, 3], from 1 to 12, 2 of 12 not finite"));
}

TEST_CASE("weights of labels that are not numbers are named as the component they are") {
  trainer t(
      [](graph& g) {
        auto spec = classifier(g, {4, 8, 3}, dtype::float32, gradient_descent{});
        const symbol weights = g.placeholder("weights", dtype::float32, {g.unknown("batch")});
        spec.loss = reduce_mean(mul(weights, spec.loss));
        return spec;
      },
      {.batch = 3});
  const auto x = noise<float>({3, 4}, 1), w = tensor::of<float>({3}, {1, nan, 1});
  const auto y = classes(3, 3);
  const auto f = t.run->find_fault(t.input({x.data(), y.data(), w.data()}), t.gradient.get());
  REQUIRE(f);
  CHECK(to_string(*f) == "row 1 of the batch has nan in component weights");
}

TEST_CASE("a variable that was not finite when the step began is named, and whether steps write it") {
  one_layer m{[](symbol x, symbol w) { return mul(x, w); }, {1, inf, 1}};
  const auto f = m.found();
  CHECK(f.what == numeric_fault::kind::variable);
  CHECK(f.updated);
  CHECK(to_string(f) == "variable layer/w has inf at [1]");
}

TEST_CASE(
    "a gradient that is not finite though the loss is, is named with the variable and the operation it belongs to") {
  one_layer m{[](symbol x, symbol w) { return sqrt(mul(x, w)); }, {1, 0, 1}};
  REQUIRE(m.t.run->gradients(m.t.input({m.x.data()}), m.t.gradient.get()) == step_status::ok);
  REQUIRE_FALSE(is_finite(m.t.layout, m.t.whole(), m.t.gradient.get()));
  const auto f = m.found();
  CHECK(f.what == numeric_fault::kind::operation);
  CHECK(f.name.starts_with("gradients/"));
  CHECK(f.value == "inf at [0, 1]");
  CHECK(says(f, "of the gradient of sqrt, which is sqrt at numeric_fault_test.cpp:"));
  CHECK(says(f, "the loss is finite; not finite are the gradients of layer/w"));
}

TEST_CASE(
    "what is made in the place of a concatenation, or is a piece of something, has the origin of its own elements") {
  // Rows of 16 numbers fill whole cache lines.
  const auto spoilt = [](std::function<symbol(symbol first, symbol second)> f) {
    trainer t(
        [f](graph& g) {
          const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 16});
          const symbol w = g.variable({.name = "w", .dims = {2, 16}, .initial = init::ones()});
          return model_spec{.mode = mode::train,
                            .loss = add(reduce_mean(f(slice(w, 0, 0, 1), slice(w, 0, 1, 1))), reduce_mean(x)),
                            .optimizer = gradient_descent{}};
        },
        {.batch = 2, .fuse = false});
    std::vector<float> ones(32, 1);
    ones[18] = -1;
    REQUIRE(t.store->assign("w", tensor::of<float>({2, 16}, ones)));
    const auto x = noise<float>({2, 16}, 1);
    const auto found = t.run->find_fault(t.input({x.data()}), t.gradient.get());
    REQUIRE(found);
    return to_string(*found);
  };
  CHECK(spoilt([](symbol a, symbol b) {
          return exp(neg(concat(std::vector{square(a), log(b)}, 0)));
        })
        == "the first operation with such a result is log: nan at [0, 2]");
  // The second row of the logarithm has a NaN, but no kernel reads it. The NaN found is 0/0, from the first row.
  CHECK(spoilt([](symbol a, symbol b) {
          const symbol zeros = slice(log(concat(std::vector{a, b}, 0)), 0, 0, 1);
          return div(zeros, zeros);
        })
        == "the first operation with such a result is div: nan at [0, 0]");
}

TEST_CASE("a variable is named once whose gradient is made of parts that are not finite") {
  trainer t(
      [](graph& g) {
        const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 16});
        const symbol w = g.variable({.name = "w", .dims = {2, 16}});
        // At 0 the value is finite, but its gradient is not.
        const symbol y = add(sqrt(slice(w, 0, 0, 1)), sqrt(slice(w, 0, 1, 1)));
        return model_spec{.mode = mode::train, .loss = reduce_mean(mul(x, y)), .optimizer = gradient_descent{}};
      },
      {.batch = 2, .fuse = false});
  const auto x = noise<float>({2, 16}, 1);
  REQUIRE(!has(t.run->to_text(), "\nconcat\n"));
  const auto f = t.run->find_fault(t.input({x.data()}), t.gradient.get());
  REQUIRE(f);
  CHECK(f->details.back() == "the loss is finite; not finite are the gradients of w");
}

TEST_CASE("a kernel that computes several operations names all of them") {
  SUBCASE("a product with bias and relu") {
    trainer t([](graph& g) { return classifier(g, {2, 2, 2}, dtype::float32, gradient_descent{}); }, {.batch = 1});
    REQUIRE(t.store->assign("dense/kernel", tensor::of<float>({2, 2}, {3e38f, 0, 3e38f, 0})));
    const auto x = tensor::of<float>({1, 2}, {2, 2});
    const auto y = tensor::of<int32_t>({1}, {0});
    const auto f = t.run->find_fault(t.input({x.data(), y.data()}), t.gradient.get());
    REQUIRE(f);
    CHECK(f->name == "dense/relu");
    CHECK(f->value == "inf at [0, 0]");
    CHECK(says(*f, "one kernel computes dense/matmul, dense/add, dense/relu"));
    CHECK(says(*f, "operand variable dense/kernel: float32 [2, 2], from 0 to 3e+38"));
  }
  SUBCASE("a cross-entropy and its gradient") {
    trainer t([](graph& g) { return classifier(g, {2, 2}, dtype::float32, gradient_descent{}); }, {.batch = 1});
    REQUIRE(t.store->assign("dense/kernel", tensor::of<float>({2, 2}, {3e38f, 0, 0, -3e38f})));
    const auto x = tensor::of<float>({1, 2}, {1, 1});
    const auto y = tensor::of<int32_t>({1}, {1});
    const auto f = t.run->find_fault(t.input({x.data(), y.data()}), t.gradient.get());
    REQUIRE(f);
    CHECK(f->name == "sparse_softmax_cross_entropy");
    CHECK(says(*f, "one kernel computes sparse_softmax_cross_entropy, gradients/cross_entropy_gradient"));
  }
}

TEST_CASE("a step that is made again has the bits of the first time, dropout included") {
  const auto build = [](graph& g) { return classifier(g, {4, 8, 3}, dtype::float32, gradient_descent{}, 0.5); };
  trainer t(build, {.batch = 12, .seed = 3});
  const auto x = noise<float>({12, 4}, 1);
  const auto y = classes(12, 3);
  const std::vector<const std::byte*> feeds{x.data(), y.data()};
  REQUIRE(t.run->gradients(t.input(feeds, 5), t.gradient.get()) == step_status::ok);
  const auto bytes = static_cast<size_t>(t.layout.gradient_bytes());
  const std::vector<std::byte> first(t.gradient.get(), t.gradient.get() + bytes);
  CHECK_FALSE(t.run->find_fault(t.input(feeds, 5), t.gradient.get()));
  CHECK(std::memcmp(first.data(), t.gradient.get(), bytes) == 0);
}

TEST_CASE("a search that is cancelled finds nothing") {
  one_layer m{[](symbol x, symbol w) { return mul(x, w); }, {1, inf, 1}};
  const std::atomic<bool> cancel{true};
  const std::vector<const std::byte*> feeds{m.x.data()};
  auto in = m.t.input(feeds);
  in.cancel = &cancel;
  CHECK_FALSE(m.t.run->find_fault(in, m.t.gradient.get()));
}

// -- the engine ---------------------------------------------------------------------------

namespace {

/// Σ of w·log x over rows of one number, in `shards` gradient shards.
struct sharded {
  std::shared_ptr<parameter_store> store;
  std::unique_ptr<step_engine> engine;

  sharded(int32_t shards, mode m = mode::train) {
    const auto source = std::make_shared<const model>(
        model{"sum", [](graph& g, const features&, const labels&, mode what) {
                const symbol x = symbol_of(g, contents_of(g).placeholders.front());
                model_spec spec;
                spec.mode = what;
                spec.loss = reduce_sum(mul(log(x), g.variable({.name = "w", .dims = {1}, .initial = init::ones()})));
                spec.optimizer = gradient_descent{};
                return spec;
              }});
    const element_spec element{{{"x", dtype::float32, {1}}}, {}};
    const std::shared_ptr<const model_graph> built = *build_graph(*source, element, m);
    store = *parameter_store::create(*layout_of(*built), 1);
    store->initialise(1);
    auto made = make_program_engine(
        {.graph = built, .delivered = element.components(), .store = store, .shards = shards, .batch_rows = 8});
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    engine = std::move(*made);
  }
  std::optional<numeric_fault> find(std::vector<float> x) {
    const std::byte* feeds[] = {reinterpret_cast<const std::byte*>(x.data())};
    return engine->find_fault(3, {feeds, 8}, 0);
  }
};

}  // namespace

TEST_CASE("the gradient shard is named, and rows are counted in the batch") {
  sharded s{4};
  CHECK_FALSE(s.find({1, 2, 3, 4, 5, 6, 7, 8}));
  const auto logarithm = s.find({1, 2, 3, 4, 5, -6, 7, 8});
  REQUIRE(logarithm);
  CHECK(to_string(*logarithm) == "the first operation with such a result is log: nan at [1, 0]");
  CHECK(says(*logarithm, "in gradient shard 2 of 4"));
  const auto fed = s.find({1, 2, 3, 4, 5, nan, 7, 8});
  REQUIRE(fed);
  CHECK(to_string(*fed) == "row 5 of the batch has nan at [0] in component x");
}

TEST_CASE("an evaluation's step is searched, too") {
  sharded s{1, mode::evaluate};
  CHECK_FALSE(s.find({1, 2, 3, 4, 5, 6, 7, 8}));
  const auto f = s.find({1, 2, 3, 4, 5, 6, 0, 8});
  REQUIRE(f);
  CHECK(to_string(*f) == "the first operation with such a result is log: -inf at [6, 0]");
}

TEST_CASE("a flat gradient is searched by variable") {
  one_layer m{[](symbol x, symbol w) { return mul(x, w); }};
  REQUIRE(m.t.run->gradients(m.t.input({m.x.data()}), m.t.gradient.get()) == step_status::ok);
  CHECK_FALSE(first_fault(m.t.layout, m.t.gradient.get()));
  reinterpret_cast<float*>(m.t.gradient.get())[2] = -inf;
  const auto f = first_fault(m.t.layout, m.t.gradient.get());
  REQUIRE(f);
  CHECK(to_string(*f) == "the gradient of variable layer/w has -inf at [2]");
}

TEST_CASE("ranges leave out what is not finite, and say how much that is") {
  const auto x = tensor::of<double>({2, 2}, {1.5, nan, -inf, -2});
  CHECK(range_text(x.type(), x.dims(), x.data()) == "float64 [2, 2], from -2 to 1.5, 2 of 4 not finite");
  const auto none = tensor::scalar<float>(-nan);
  CHECK(range_text(none.type(), none.dims(), none.data()) == "float32 [], 1 of 1 not finite");
  CHECK(element_text(none.type(), none.data(), 0) == "nan");
  const auto labels = tensor::of<int32_t>({3}, {4, -1, 9});
  CHECK(range_text(labels.type(), labels.dims(), labels.data()) == "int32 [3], from -1 to 9");
  CHECK(count_not_finite(labels.type(), labels.data(), 3).count == 0);
}

}  // namespace troupe
