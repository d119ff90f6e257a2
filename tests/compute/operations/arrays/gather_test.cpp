#include "compute/graph/operation.hpp"
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

namespace troupe {

using namespace test;

namespace {

/// Runs gather with a fed index; returns the message of the error.
std::string gathered(int32_t index) {
  graph g;
  model_spec spec;
  spec.mode = mode::predict;
  const symbol at = g.placeholder("at", dtype::int32, {2});
  const auto scope = g.scope("words");
  spec.predictions["value"] = gather(g.constant(f32({3}, {1, 2, 3})), at);
  const auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {});
  REQUIRE(p);
  const tensor indices = i32({2}, {0, index});
  const std::byte* feed[] = {indices.data()};
  const auto status = (*p)->run({.feeds = feed});
  return status == step_status::ok ? "ok" : has(status, step_status::bad_input) ? (*p)->last_error().message : "?";
}

}  // namespace

TEST_CASE("gather takes rows, columns and planes at indices of any shape") {
  const tensor x = i32({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto of = [&](const tensor& at, int axis) {
    return value([&](graph& g) { return gather(g.constant(x), g.constant(at), axis); });
  };
  CHECK(of(i64({4}, {2, 0, 2, 1}), 0) == i32({4, 2}, {5, 6, 1, 2, 5, 6, 3, 4}));
  CHECK(of(i32({2, 2}, {0, 1, 1, 0}), 1) == i32({3, 2, 2}, {1, 2, 2, 1, 3, 4, 4, 3, 5, 6, 6, 5}));
  CHECK(of(i32({}, {1}), -2) == i32({2}, {3, 4}));
  CHECK(of(tensor::zeros(dtype::int32, {0}), 0).dims() == shape{0, 2});
  CHECK(refusal([&](graph& g) {
          return gather(g.constant(x), g.constant(f32({1}, {0})));
        }).find("gather: needs an axis of its operand and int32 or int64 indices")
        != std::string::npos);
}

TEST_CASE("an index out of range is an error of the step that names node, position, value and limit") {
  CHECK(gathered(2) == "ok");
  CHECK(gathered(3).starts_with("index 3 at position 1 is outside [0, 3): words/gather ("));
  CHECK(gathered(-1).starts_with("index -1 at position 1 is outside [0, 3): words/gather ("));
}

TEST_CASE("scatter_add adds rows that meet, in the order of their indices") {
  const auto of = [](const tensor& at, const tensor& updates) {
    return value([&](graph& g) { return scatter_add(g.constant(at), g.constant(updates), 3); });
  };
  CHECK(of(i32({3}, {2, 0, 2}), f32({3, 2}, {1, 2, 3, 4, 5, 6})) == f32({3, 2}, {3, 4, 0, 0, 6, 8}));
  CHECK(of(i64({2, 2}, {2, 0, 2, 1}), i32({2, 2}, {1, 2, 3, 4})) == i32({3}, {2, 4, 4}));
  CHECK(refusal([](graph& g) {
          return scatter_add(g.constant(i32({2}, {0, 1})), g.constant(f32({3}, {1, 2, 3})), 3);
        }).find("whose first axes are theirs")
        != std::string::npos);
}

TEST_CASE("one_hot is one at the index, and zeros for one that is outside") {
  CHECK(value([](graph& g) {
          return one_hot(g.constant(i32({3}, {1, -1, 2})), 2);
        })
        == f32({3, 2}, {0, 1, 0, 0, 0, 0}));
  CHECK(value([](graph& g) {
          return one_hot(g.constant(i64({1, 2}, {0, 1})), 2, dtype::float64);
        })
        == f64({1, 2, 2}, {1, 0, 0, 1}));
}

}  // namespace troupe
