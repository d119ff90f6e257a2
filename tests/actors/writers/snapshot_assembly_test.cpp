#include "actors/writers/snapshot_assembly.hpp"

#include "support/ids.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

namespace {

tensor floats(std::initializer_list<float> v) { return tensor::of<float>({static_cast<int64_t>(v.size())}, v); }

expected<std::vector<named_tensor>> join(const std::vector<variable_piece>& pieces) {
  std::vector<const variable_piece*> at;
  for (const auto& p : pieces)
    at.push_back(&p);
  return join_pieces(at);
}
expected<void> finite(const std::vector<variable_piece>& pieces) {
  std::vector<const variable_piece*> at;
  for (const auto& p : pieces)
    at.push_back(&p);
  return check_finite(at);
}

}  // namespace

TEST_CASE("runs of a variable are joined in the order of their elements, variables in that of their names") {
  const auto whole = join({{"z", {2, 2}, 3, true, floats({4})},
                           {"a", {}, 0, false, floats({9})},
                           {"z", {2, 2}, 0, true, floats({1, 2, 3})}});
  REQUIRE(whole);
  REQUIRE(whole->size() == 2);
  CHECK((*whole)[0].name == "a");
  CHECK((*whole)[0].value == tensor::scalar(9.0f));
  CHECK((*whole)[1].name == "z");
  CHECK((*whole)[1].value == tensor::of<float>({2, 2}, {1, 2, 3, 4}));
}

TEST_CASE("runs that lie behind each other in memory are joined without a copy") {
  const auto arena = floats({1, 2, 3, 4, 5, 6});
  const auto whole = join({{"v", {6}, 4, true, arena.slice(4, 2)}, {"v", {6}, 0, true, arena.slice(0, 4)}});
  REQUIRE(whole);
  CHECK((*whole)[0].value == arena);
  CHECK((*whole)[0].value.data() == arena.data());
}

TEST_CASE("a run that is missing or doubled is named with its variable") {
  const auto message = [](const std::vector<variable_piece>& pieces) {
    const auto whole = join(pieces);
    REQUIRE_FALSE(whole);
    CHECK(whole.error().category == errc::invalid_argument);
    CHECK(has(whole.error().message, "dense/kernel"));
    return whole.error().message;
  };
  CHECK(has(message({{"dense/kernel", {4}, 2, true, floats({3, 4})}}), "no run at element 0"));
  CHECK(has(message({{"dense/kernel", {4}, 0, true, floats({1, 2})}}), "2 elements of 4"));
  CHECK(message({{"dense/kernel", {4}, 0, true, floats({1})}, {"dense/kernel", {4}, 2, true, floats({3, 4})}})
            .find("no run at element 1")
        != std::string::npos);
  message({{"dense/kernel", {4}, 0, true, floats({1, 2, 3, 4})}, {"dense/kernel", {4}, 0, true, floats({1, 2, 3, 4})}});
  message(
      {{"dense/kernel", {3}, 0, true, floats({1, 2})}, {"dense/kernel", {3}, 2, true, tensor::of<int32_t>({1}, {3})}});
}

TEST_CASE("only trainable variables must be finite to be saved, and the first that is not is named") {
  CHECK(finite({{"a", {1}, 0, true, floats({1})}, {"slot", {1}, 0, false, floats({INFINITY})}}));
  const auto bad = finite({{"a", {1}, 0, true, floats({1})},
                           {"b", {2}, 0, true, floats({1, NAN})},
                           {"c", {1}, 0, true, floats({INFINITY})}});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().category == errc::nan_loss);
  CHECK(has(bad.error().message, "variable b "));
}

TEST_CASE("missing parts are those of the plan that have not come") {
  const std::vector<expected_part> wanted{{0_node, "chief"}, {1_node, "infeed/0"}, {2_node, "replica/0"}};
  CHECK(missing_parts(wanted, 5, {}) == "chief, infeed/0, replica/0");
  CHECK(missing_parts(wanted, 5, {{1_node, {}}, {7_node, {}}}) == "chief, replica/0");
  CHECK(missing_parts(wanted, 5, {{1_node, {}}, {0_node, {}}, {2_node, {}}}).empty());
}

}  // namespace troupe::test
