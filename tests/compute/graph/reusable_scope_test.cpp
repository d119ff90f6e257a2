#include "compute/graph/reusable_scope.hpp"

#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

symbol rows_of(graph& g, const char* name, int64_t width = 4) {
  return g.placeholder(name, dtype::float32, {g.unknown("batch"), width});
}

std::vector<std::string> names_of_variables(const graph& g) {
  std::vector<std::string> names;
  for (const auto& v : contents_of(g).variables)
    names.push_back(v.options.name);
  return names;
}

}  // namespace

TEST_CASE("a part that is built again reads the variables of the first one, scope by scope") {
  graph g;
  reusable_scope scope{g, "a/member"};
  const auto build = [&](symbol x) {
    const auto guard = scope.enter();
    return nn::dense(nn::dense(x, {.units = 3}), {.units = 2});
  };
  const auto first = build(rows_of(g, "x"));
  const auto names = names_of_variables(g);
  CHECK(names.size() == 4);
  CHECK(names.front().starts_with("a/member/"));
  const auto second = build(rows_of(g, "y"));
  REQUIRE_MESSAGE(g.status(), (g.status() ? "" : g.status().error().message));
  CHECK(names_of_variables(g) == names);
  const auto input_of = [&](symbol s, size_t i) {
    return contents_of(g).nodes[static_cast<size_t>(s.node())].inputs[i];
  };
  CHECK(first.node() != second.node());
  CHECK_MESSAGE(input_of(first, 1) == input_of(second, 1), "the same bias");
  static_cast<void>(nn::dense(rows_of(g, "z"), {.units = 3}));
  CHECK_MESSAGE(names_of_variables(g).size() == 6, "outside of the scope variables are new ones");
}

TEST_CASE("a variable of another shape or dtype where a part is built again is an error that names both") {
  graph g;
  reusable_scope scope{g, "s"};
  const auto make = [&](variable_options o) {
    const auto guard = scope.enter();
    g.variable(std::move(o));
  };
  make({.name = "w", .dims = {2, 3}});
  SUBCASE("the shape") { make({.name = "w", .dims = {3, 2}}); }
  SUBCASE("the dtype") { make({.name = "w", .dims = {2, 3}, .type = dtype::float64}); }
  REQUIRE_FALSE(g.status());
  const std::string text = g.status().error().message;
  CHECK(g.status().error().category == errc::invalid_argument);
  CHECK_MESSAGE(has(text, "'s/w' is float32 [2, 3], and where its model is built again float"), text);
}

TEST_CASE("within one part a variable that is made twice is an error, as elsewhere") {
  graph g;
  reusable_scope scope{g, "s"};
  const auto guard = scope.enter();
  g.variable({.name = "w", .dims = {1}});
  g.variable({.name = "w", .dims = {1}});
  REQUIRE_FALSE(g.status());
  CHECK(has(g.status().error().message, "there already is one named 's/w'"));
}

TEST_CASE("what a part that is built again assigns, records or shows is dropped") {
  graph g;
  reusable_scope scope{g, "s"};
  const auto build = [&](float value) {
    const auto guard = scope.enter();
    const auto v = g.variable({.name = "mean", .dims = {}, .trainable = false});
    const auto next = v * value;
    g.assign(v, next);
    g.scalar("mean", next);
    g.observe("mean", next);
    return next;
  };
  const auto first = build(2);
  static_cast<void>(build(3));
  REQUIRE_MESSAGE(g.status(), (g.status() ? "" : g.status().error().message));
  const auto& contents = contents_of(g);
  CHECK(contents.variables.front().next == first.node());
  REQUIRE(contents.summaries.size() == 1);
  CHECK(contents.summaries.front().node == first.node());
  CHECK(contents.summaries.front().tag == "s/mean");
  REQUIRE(contents.observed.size() == 1);
  CHECK(contents.observed.front().node == first.node());
}

}  // namespace troupe::test
