#include "tests/support/has.hpp"

#include <troupe/model.hpp>

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

features two_features(graph& g) {
  const extent batch = g.unknown("batch");
  return {&g,
          {{"age", g.placeholder("age", dtype::float32, {batch, 1})},
           {"pixels", g.placeholder("pixels", dtype::float32, {batch, 4})}}};
}

}  // namespace

TEST_CASE("a feature is found by its name") {
  graph g;
  const auto x = two_features(g);
  CHECK(x["pixels"].dims()[1] == extent{4});
  CHECK(x[std::string{"age"}].dims()[1] == extent{1});
  CHECK(g.status());
}

TEST_CASE("a name that is not there is an error of the graph with the names there are and the line that asked") {
  graph g;
  const auto x = two_features(g);
  const int line = __LINE__ + 1;
  const symbol s = x["pixel"];
  CHECK_FALSE(s.valid());
  const auto e = g.status().error();
  CHECK(e.category == errc::key_missing);
  CHECK(has(e.message, "'pixel'; there are: 'age', 'pixels'"));
  CHECK(has(e.message, "named_symbols_test.cpp:" + std::to_string(line)));
}

TEST_CASE("the only symbol is an error where there are two or none") {
  graph g;
  CHECK_FALSE(two_features(g).only().valid());
  CHECK(g.status().error().category == errc::invalid_argument);
  CHECK(has(g.status().error().message, "'age', 'pixels'"));
  graph h;
  CHECK_FALSE(labels(&h, {}).only().valid());
  CHECK(has(h.status().error().message, "none"));
  graph one;
  CHECK(labels(&one, {{"y", one.placeholder("y", dtype::int32, {one.unknown("batch")})}}).only().valid());
}

TEST_CASE("modes are written as their names") {
  CHECK(to_string(mode::train) == "train");
  CHECK(to_string(mode::evaluate) == "evaluate");
  CHECK(to_string(mode::predict) == "predict");
}

}  // namespace troupe
