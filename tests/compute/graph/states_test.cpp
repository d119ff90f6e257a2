// What a model may declare as carried state.
#include "compute/graph/model_graph.hpp"
#include "compute/operations/stored_graph.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

std::string trouble_with(const std::function<void(graph&, extent)>& build) {
  graph g;
  build(g, g.unknown("batch"));
  const auto status = g.status();
  CHECK((status || status.error().category == errc::invalid_argument));
  return status ? "" : status.error().message;
}

symbol row_state(graph& g, extent batch, state_options others = {}) {
  if (others.name.empty())
    others.name = "memory";
  if (others.dims.empty())
    others.dims = {batch, 3};
  return g.state(others);
}

model carrying(bool carries) {
  return {"carrying", [carries](graph& g, const features& x, const labels&, mode m) {
            const auto before = g.state({.name = "memory", .dims = x["x"].dims(), .initial = init::constant(2)});
            if (carries)
              g.carry(before, before + x["x"]);
            model_spec spec;
            spec.mode = m;
            spec.loss = reduce_mean(before);
            spec.predictions = {{"memory", before * x["x"]}};
            spec.optimizer = gradient_descent{};
            return spec;
          }};
}

const element_spec element{{{"x", dtype::float32, {3}}}, {}};

}  // namespace

TEST_CASE("a state has a name that no variable has, in its scope") {
  CHECK(has(trouble_with([](graph& g, extent b) { g.state({.name = "", .dims = {b}}); }), "state: it has no name"));
  CHECK(has(trouble_with([](graph& g, extent b) {
              row_state(g, b);
              row_state(g, b);
            }),
            "there already is a variable or a state named 'memory'"));
  CHECK(has(trouble_with([](graph& g, extent b) {
              row_state(g, b);
              g.variable({.name = "memory", .dims = {3}});
            }),
            "there already is one named 'memory'"));
  CHECK(trouble_with([](graph& g, extent b) {
          g.carry(row_state(g, b), row_state(g, b, {.name = "other"}));
          const auto inner = g.scope("layer");
          row_state(g, b);
        }).empty());
}

TEST_CASE("a state has a row for each example, and then known extents of at least 1") {
  const auto wrong = [](auto dims) {
    return trouble_with([&](graph& g, extent b) { g.state({.name = "memory", .dims = dims(g, b)}); });
  };
  const std::string rule = ": it must have the batch first, and then known extents of at least 1";
  CHECK(has(wrong([](graph&, extent) { return symbol_shape{4, 3}; }), "'memory' is [4, 3]" + rule));
  CHECK(has(wrong([](graph&, extent b) { return symbol_shape{3, b}; }), "'memory' is [3, batch]" + rule));
  CHECK(has(wrong([](graph&, extent b) { return symbol_shape{b, 0}; }), "'memory' is [batch, 0]" + rule));
  CHECK(has(wrong([](graph&, extent b) {
              b.coefficient = 2;
              return symbol_shape{b};
            }),
            "'memory' is [2*batch]" + rule));
  CHECK(has(wrong([](graph& g, extent b) { return symbol_shape{b, g.unknown("time")}; }), "[batch, time]" + rule));
  CHECK(has(wrong([](graph& g, extent) { return symbol_shape{g.unknown("time")}; }), "[time]" + rule));
  CHECK(has(trouble_with([](graph& g, extent) { g.state({.name = "memory"}); }), "'memory' is []" + rule));
}

TEST_CASE("a state starts from zeros or a constant") {
  CHECK(has(trouble_with([](graph& g, extent b) { row_state(g, b, {.initial = init::uniform(0, 1)}); }),
            "'memory' can only start from zeros or a constant"));
  CHECK(trouble_with([](graph& g, extent b) { row_state(g, b, {.initial = init::constant(2)}); }).empty());
}

TEST_CASE("[DF-38] what a state carries has its dtype and shape, and is named once") {
  const auto carrying_of = [](auto next) {
    return trouble_with([&](graph& g, extent b) {
      const auto memory = row_state(g, b);
      g.carry(memory, next(g, b));
    });
  };
  CHECK(has(carrying_of([](graph& g, extent b) {
              return g.placeholder("x", dtype::float64, {b, 3});
            }),
            "carry: 'memory' is float32 [batch, 3] and what it carries is float64 [batch, 3]: both must be of one "
            "dtype and shape"));
  CHECK(has(carrying_of([](graph& g, extent b) {
              return g.placeholder("x", dtype::float32, {b, 4});
            }),
            "what it carries is float32 [batch, 4]"));
  CHECK(has(trouble_with([](graph& g, extent b) {
              const auto memory = row_state(g, b);
              g.carry(memory, memory);
              g.carry(memory, memory);
            }),
            "'memory' has been carried before"));
  CHECK(has(trouble_with([](graph& g, extent b) {
              const auto x = g.placeholder("x", dtype::float32, {b, 3});
              g.carry(x, x);
            }),
            "only a state can be carried, not x"));
  CHECK(has(trouble_with([](graph& g, extent b) {
              graph other;
              g.carry(row_state(g, b), row_state(other, other.unknown("batch")));
            }),
            "operands of two graphs"));
  const auto never = build_graph(carrying(false), element, mode::train);
  REQUIRE_FALSE(never);
  CHECK(has(never.error().message, "state: 'memory' is never carried: call graph::carry"));
  CHECK(has(never.error().message, "states_test.cpp"));
}

TEST_CASE("where nothing is carried, a state is its initial value, and the graph can be stored") {
  const auto built = *build_graph(carrying(true), element, mode::predict);
  CHECK(carried_states(contents_of(built->g)).empty());
  const int32_t roots[] = {built->spec.predictions.at("memory").node()};
  CHECK(slice_of(built->g, roots));
  CHECK(rows_are_apart(built->g, roots));
  const auto trained = *build_graph(carrying(true), element, mode::train);
  CHECK(carried_states(contents_of(trained->g)).size() == 1);
  const int32_t trained_roots[] = {trained->spec.predictions.at("memory").node()};
  CHECK_FALSE(slice_of(trained->g, trained_roots));
  CHECK_FALSE(rows_are_apart(trained->g, trained_roots));  // A row depends on what came before it.
}

}  // namespace troupe::test
