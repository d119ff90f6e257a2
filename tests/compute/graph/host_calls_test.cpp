// What a model may declare as host calls.
#include "compute/graph/model_graph.hpp"
#include "tests/support/has.hpp"

#include <troupe/host_call.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

std::string trouble_with_call(const std::function<void(graph&, symbol x)>& build) {
  graph g;
  build(g, g.placeholder("x", dtype::float32, {g.unknown("batch"), 3}));
  const auto status = g.status();
  CHECK((status || status.error().category == errc::invalid_argument));
  return status ? "" : status.error().message;
}

expected<std::unique_ptr<model_graph>> built(std::map<std::string, host_call_function> functions) {
  const model source{.name = "calling",
                     .build =
                         [](graph& g, const features& x, const labels&, mode) {
                           g.host_call({.name = "seen", .tensors = {{"x", x["x"]}}});
                           return model_spec{.predictions = {{"x", x["x"]}}};
                         },
                     .host_calls = std::move(functions)};
  return build_graph(source, {{{"x", dtype::float32, {3}}}, {}}, mode::predict);
}

}  // namespace

TEST_CASE("[DF-40] a host call has a name of its own, tensors of rank 1 and more, and an interval") {
  CHECK(trouble_with_call([](graph& g, symbol x) { g.host_call({.name = "a", .tensors = {{"x", x}}}); }).empty());
  CHECK(has(trouble_with_call([](graph& g, symbol x) { g.host_call({.tensors = {{"x", x}}}); }), "it has no name"));
  CHECK(has(trouble_with_call([](graph& g, symbol) { g.host_call({.name = "a"}); }), "'a' has no tensors"));
  CHECK(has(trouble_with_call([](graph& g, symbol x) {
              g.host_call({.name = "a", .tensors = {{"", x}}});
            }),
            "a tensor of 'a' has no name"));
  CHECK(has(trouble_with_call([](graph& g, symbol) {
              g.host_call({.name = "a", .tensors = {{"x", symbol{}}}});
            }),
            "'x' of 'a' is not a valid symbol of this graph"));
  CHECK(has(trouble_with_call([](graph& g, symbol x) {
              g.host_call({.name = "a", .tensors = {{"mean", reduce_mean(x)}}});
            }),
            "'mean' of 'a' is float32 []: the values of gradient shards and replicas are joined on axis 0"));
  CHECK(has(trouble_with_call([](graph& g, symbol x) {
              g.host_call({.name = "a", .tensors = {{"x", x}}, .every = 0});
            }),
            "'a' is to be made every 0 steps; at least 1 is needed"));
  CHECK(has(trouble_with_call([](graph& g, symbol x) {
              g.host_call({.name = "a", .tensors = {{"x", x}}});
              const auto inner = g.scope("layer");
              g.host_call({.name = "a", .tensors = {{"x", x}}});
            }),
            "'a' is called already"));
}

TEST_CASE("a model with 10,000 host calls is refused at the thirty-first, by its name") {
  CHECK(has(trouble_with_call([](graph& g, symbol x) {
              for (int i = 0; i < 10'000; ++i)
                g.host_call({.name = "call " + std::to_string(i), .tensors = {{"x", x}}});
            }),
            "'call 30' is one more than the 30 host calls that a model may have"));
}

TEST_CASE("[DF-40] a host call without a function is refused, naming those that there are") {
  const auto none = built({}), empty = built({{"seen", nullptr}}), other = built({{"sen", [](host_call_step&) {}}});
  REQUIRE_FALSE(none);
  CHECK(has(none.error().message,
            "the model 'calling' makes the host call 'seen', for which its `host_calls` have no function"));
  REQUIRE_FALSE(empty);
  CHECK(has(empty.error().message, "they have 'seen' (empty)"));
  REQUIRE_FALSE(other);
  CHECK(has(other.error().message, "they have 'sen'"));
  CHECK(built({{"seen", [](host_call_step&) {}}, {"unused", [](host_call_step&) {}}}));
}

}  // namespace troupe::test
