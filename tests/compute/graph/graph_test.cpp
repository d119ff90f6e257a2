#include "compute/graph/graph.hpp"

#include "compute/graph/model_graph.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe {
namespace {

/// Whether the graph's error contains all of these parts.
bool says(const graph& g, std::initializer_list<const char*> parts) {
  if (g.status())
    return false;
  INFO(g.status().error().message);
  for (const char* part : parts)
    if (g.status().error().message.find(part) == std::string::npos) {
      FAIL_CHECK("no '", part, "' in: ", g.status().error().message);
      return false;
    }
  return g.status().error().category == errc::invalid_argument;
}

symbol floats(graph& g, const char* name, symbol_shape dims) {
  return g.placeholder(name, dtype::float32, std::move(dims));
}

std::string all_variables(const graph& g) {
  std::string names;
  for (const auto& v : contents_of(g).variables)
    names += v.options.name + " ";
  return names;
}

}  // namespace

TEST_CASE("a wrong shape is kept with the operation, both shapes and the source line") {
  graph g;
  const symbol x = floats(g, "x", {g.unknown("batch"), 784});
  SUBCASE("matmul") {
    const symbol y = matmul(x, floats(g, "w", {100, 10}));
    CHECK_FALSE(y.valid());
    CHECK(says(g, {"matmul", "[batch, 784]", "[100, 10]", "graph_test.cpp"}));
  }
  SUBCASE("add, written as an operator") {
    const symbol y = x + floats(g, "b", {10});
    const std::string line = ":" + std::to_string(__LINE__ - 1) + ")";
    CHECK_FALSE(y.valid());
    CHECK(says(g, {"add", "[batch, 784]", "[10]", "graph_test.cpp", line.c_str()}));
  }
  SUBCASE("reshape") {
    reshape(x, {10, 10});
    CHECK(says(g, {"reshape", "[batch, 784]", "[10, 10]"}));
  }
  SUBCASE("cross-entropy") {
    sparse_softmax_cross_entropy(floats(g, "y", {10}), x);
    CHECK(says(g, {"sparse_softmax_cross_entropy", "[batch, 784]", "float32 [10]"}));
  }
  SUBCASE("reduce_sum") {
    reduce_sum(x, {{2}});
    CHECK(says(g, {"reduce_sum", "{2}", "[batch, 784]"}));
  }
  SUBCASE("dense") {
    nn::dense(reshape(x, {-1}), {.units = 3});
    CHECK(says(g, {"dense", "[784*batch]"}));
  }
  SUBCASE("dtypes") {
    x + g.placeholder("d", dtype::float64, {784});
    CHECK(says(g, {"add", "float32", "float64"}));
  }
}

TEST_CASE("the first error is the one that is kept") {
  graph g;
  const symbol x = floats(g, "x", {2, 3});
  const symbol bad = matmul(x, x);
  const symbol worse = softmax(bad + x);
  CHECK_FALSE(worse.valid());
  reshape(x, {7});
  CHECK(says(g, {"matmul", "[2, 3] and [2, 3]"}));
}

TEST_CASE("symbols of two graphs do not mix") {
  graph g, h;
  floats(g, "x", {2}) + floats(h, "x", {2});
  CHECK(says(g, {"operands of two graphs"}));
}

TEST_CASE("an operand that was never made is an error of the other one's graph") {
  graph g;
  floats(g, "x", {2}) + symbol{};
  CHECK(says(g, {"not a valid symbol"}));
}

TEST_CASE("scopes name variables, and a second scope of a name gets a number") {
  graph g;
  const symbol x = floats(g, "x", {g.unknown("batch"), 4});
  symbol h = nn::dense(x, {.units = 3, .activation = relu});
  h = nn::dense(h, {.units = 2, .bias = false});
  nn::dense(h, {.units = 2, .name = "head"});
  CHECK(g.status());
  CHECK(g.to_text() ==
        "x: float32 [batch, 4] = placeholder\n"
        "dense/kernel: float32 [4, 3] = variable\n"
        "dense/matmul: float32 [batch, 3] = matmul(x, dense/kernel)\n"
        "dense/bias: float32 [3] = variable\n"
        "dense/add: float32 [batch, 3] = add(dense/matmul, dense/bias)\n"
        "dense/relu: float32 [batch, 3] = relu(dense/add)\n"
        "dense_1/kernel: float32 [3, 2] = variable\n"
        "dense_1/matmul: float32 [batch, 2] = matmul(dense/relu, dense_1/kernel)\n"
        "head/kernel: float32 [2, 2] = variable\n"
        "head/matmul: float32 [batch, 2] = matmul(dense_1/matmul, head/kernel)\n"
        "head/bias: float32 [2] = variable\n"
        "head/add: float32 [batch, 2] = add(head/matmul, head/bias)\n");
}

TEST_CASE("a scope has its name whatever features, labels and operations are called") {
  const auto variables = [](bool labelled, bool training) {
    graph g;
    symbol x = floats(g, "x", {g.unknown("batch"), 4});
    if (labelled)
      floats(g, "logits", {g.unknown("batch"), 2});
    if (training)
      x = relu(x);
    x = nn::dense(x, {.units = 3, .name = "relu"});
    nn::dense(x, {.units = 2, .name = "logits"});
    CHECK(g.status());
    return all_variables(g);
  };
  CHECK(variables(true, true) == "relu/kernel relu/bias logits/kernel logits/bias ");
  CHECK(variables(true, false) == variables(true, true));
  CHECK(variables(false, false) == variables(true, true));
}

TEST_CASE("a scope of a variable's name gets a number, since slots are stored below the variable") {
  graph g;
  g.variable({.name = "w", .dims = {2}});
  {
    const auto first = g.scope("w");
    g.variable({.name = "Momentum", .dims = {2}});
  }
  const auto second = g.scope("w");
  g.variable({.name = "v", .dims = {2}});
  CHECK(all_variables(g) == "w w_1/Momentum w_2/v ");
}

TEST_CASE("two variables of one name are refused") {
  graph g;
  g.variable({.name = "w", .dims = {2}});
  CHECK(g.status());
  CHECK_FALSE(g.variable({.name = "w", .dims = {2}}).valid());
  CHECK(says(g, {"there already is one named 'w'", "graph_test.cpp"}));
}

TEST_CASE("data with a feature and a label of one name are refused, by that name, before the model is called") {
  int called = 0;
  const model counting{"counting", [&called](graph&, const features&, const labels&, mode) {
                         ++called;
                         return model_spec{};
                       }};
  const component x{"x", dtype::float32, {2}}, y{"y", dtype::float32, {}};
  const auto built = build_graph(counting, {.features = {x, y}, .labels = {y}}, mode::train);
  REQUIRE_FALSE(built);
  CHECK(built.error().category == errc::invalid_argument);
  CHECK(built.error().message.starts_with("the data have a feature and a label named 'y'"));
  CHECK(called == 0);
}

TEST_CASE("a variable cannot have the name of the step, except in a scope") {
  graph g;
  {
    const auto scope = g.scope("mine");
    CHECK(g.variable({.name = "global_step", .dims = {1}}).valid());
  }
  CHECK_FALSE(g.variable({.name = "global_step", .dims = {1}}).valid());
  CHECK(says(g, {"'global_step' is a reserved name", "graph_test.cpp"}));
}

TEST_CASE("an unknown is the same whenever it is asked for") {
  graph g;
  CHECK(g.unknown("batch") == g.unknown("batch"));
  CHECK(g.unknown("length") != g.unknown("batch"));
}

TEST_CASE("200,000 placeholders and unknowns are made without a search through all of them each time") {
  graph g;
  constexpr int count = 200'000;  // 2 · 10^10 comparisons would take minutes.
  for (int i = 0; i < count; ++i)
    floats(g, ("x" + std::to_string(i)).c_str(), {g.unknown("u" + std::to_string(i))});
  CHECK(g.status());
  CHECK(g.unknown("u" + std::to_string(count - 1)) == extent::of_unknown(count - 1));
  CHECK_FALSE(floats(g, "x7", {2}).valid());
  CHECK(says(g, {"placeholder", "there already is one named 'x7'", "graph_test.cpp"}));
}

TEST_CASE("a placeholder or a variable of more elements than can be is refused, also as the first node") {
  constexpr int64_t wide = int64_t{1} << 40;
  graph g, h;
  CHECK_FALSE(floats(g, "x", {wide, wide}).valid());
  CHECK(says(g, {"placeholder", "more than 2^48 elements"}));
  CHECK_FALSE(h.variable({.name = "w", .dims = {wide, wide}}).valid());
  CHECK(says(h, {"variable", "more than 2^48 elements"}));
}

TEST_CASE("a graph that was moved from holds an error, and what is built there stays there") {
  graph g;
  {
    const auto scope = g.scope("open");
    const graph other = std::move(g);
    CHECK(other.status());
    CHECK(g.status().error() == error{errc::state, "the graph holds nothing: it was moved from"});
    floats(g, "x", {2});
    CHECK(other.to_text().empty());
  }
  g = graph{};
  CHECK(g.status());
  CHECK(floats(g, "x", {2}).valid());
}

}  // namespace troupe
