#include "cluster/partition.hpp"

#include "cluster/topology.hpp"
#include "support/has.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace troupe::test {

namespace {

using by_name = std::map<std::string, axis_parts>;
using extents = std::vector<int64_t>;

template <class T>
std::string refusal(const expected<T>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::invalid_argument);
  return result.error().message;
}

tensor field() {
  std::vector<float> values(5 * 14);
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor::of<float>({5, 14}, std::span<const float>{values});
}

}  // namespace

TEST_CASE("[DF-2] three cores for a replica; partitions of another input mode, without cores, of three sides") {
  const auto cores = make_topology({.cores_per_host = 8, .cores_per_replica = 3});
  CHECK(refusal(cores) == "cores_per_replica must be 1, 2, 4, 8, 16, 32, 64 or 128, not 3");
  const input_partition halves{axis_parts{{1, 2}}};
  CHECK(validate(halves, input_mode::per_replica, 2));
  CHECK(refusal(validate(halves, input_mode::per_host, 2)) == "a partition needs input mode per_replica, not per_host");
  CHECK(refusal(validate(halves, input_mode::per_replica, {}))
        == "a partition needs cores_per_replica, which is not given");
  const input_partition three{axis_parts{{1, 2}}, axis_parts{}, axis_parts{}};
  CHECK(refusal(validate(three, input_mode::per_replica, 2))
        == "a partition has one entry for the features and may have one for the labels, not 3 entries");
  CHECK(has(refusal(validate({}, input_mode::per_replica, 2)), "not 0 entries"));
  CHECK(refusal(validate({axis_parts{}, axis_parts{{2}}}, input_mode::per_replica, 2))
        == "a partition must say how the features are cut, not none");
}

TEST_CASE("[DF-22] blocks are as large as the quotient rounded up until nothing is left") {
  CHECK(block_extents(5, 2) == extents{3, 2});
  CHECK(block_extents(14, 4) == extents{4, 4, 4, 2});
  CHECK(block_extents(5, 4) == extents{2, 2, 1, 0});
  CHECK(block_extents(8, 4) == extents{2, 2, 2, 2});
}

TEST_CASE("[DF-22] of a field of 5 by 14, cut by 2 and 4, core k gets the rows of k div 4 and the columns of k mod 4") {
  const auto whole = field();
  const auto blocks = blocks_of(whole, extents{2, 4}, 8);
  REQUIRE(blocks);
  REQUIRE(blocks->size() == 8);
  for (int64_t k = 0; k < 8; ++k) {
    const int64_t first_row = k / 4 * 3, first_column = k % 4 * 4;
    const shape dims{k / 4 == 0 ? 3 : 2, k % 4 == 3 ? 2 : 4};
    const auto& block = (*blocks)[static_cast<size_t>(k)];
    REQUIRE(block);
    REQUIRE(block->dims() == dims);
    for (int64_t r = 0; r < dims[0]; ++r)
      for (int64_t c = 0; c < dims[1]; ++c)
        CHECK(block->as<float>()[static_cast<size_t>(r * dims[1] + c)]
              == static_cast<float>((first_row + r) * 14 + first_column + c));
  }
}

TEST_CASE("[DF-22] names, numbers of axes, products and factors that are wrong are refused by name") {
  const component_shapes features{{"depth", {8, 14}}, {"image", {8, 14, 3}}};
  const auto refused = [&](const side_partition& p, int64_t cores) {
    return refusal(resolve({p}, features, {}, cores));
  };
  CHECK(refused(by_name{{"image", extents{1, 2, 1}}}, 2)
        == "the partition of the features must name 'depth', 'image', not 'image'");
  CHECK(refused(by_name{{"depth", axis_parts{}}, {"image", extents{1, 2}}}, 2)
        == "the partition [1, 2] of image needs a number for each axis of its shape [8, 14, 3]");
  CHECK(refused(by_name{{"depth", extents{2, 2}}, {"image", axis_parts{}}}, 8)
        == "the partition [2, 2] of depth must make 1 part or as many as cores_per_replica, 8, not 4");
  CHECK(refused(by_name{{"depth", extents{0, 2}}, {"image", axis_parts{}}}, 2)
        == "the partition [0, 2] of depth must have numbers of at least 1");
  CHECK(has(refused(by_name{{"depth", extents{int64_t{1} << 40, int64_t{1} << 40}}, {"image", axis_parts{}}}, 2),
            "2, not more"));
  CHECK(refused(extents{1, 2}, 2)
        == "the partition [1, 2] must say by name to which of the features it belongs: 'depth', 'image'");
}

TEST_CASE("[DF-23] without numbers every core gets all, of one part only core 0 does, and labels need no names") {
  const auto whole = field();
  const auto copies = blocks_of(whole, {}, 4);
  REQUIRE(copies);
  REQUIRE(copies->size() == 4);
  for (const auto& copy : *copies)
    CHECK(copy == whole);
  const auto alone = blocks_of(whole, extents{1, 1}, 4);
  REQUIRE(alone);
  REQUIRE(alone->size() == 4);
  CHECK((*alone)[0] == whole);
  for (size_t k = 1; k < 4; ++k)
    CHECK_FALSE((*alone)[k]);
  const component_shapes features{{"image", {8, 14}}}, labels{{"class", {8}}, {"weight", {8}}};
  const auto resolved = resolve({extents{1, 4}, axis_parts{}}, features, labels, 4);
  REQUIRE(resolved);
  CHECK(resolved->features == by_name{{"image", extents{1, 4}}});
  CHECK(resolved->labels == by_name{{"class", {}}, {"weight", {}}});
  const auto of_prediction = resolve({extents{1, 4}}, features, {}, 4);
  REQUIRE(of_prediction);
  CHECK(of_prediction->labels.empty());
}

TEST_CASE("a block beyond the end of an axis is empty") {
  const auto blocks = blocks_of(tensor::of<float>({5}, {0, 1, 2, 3, 4}), extents{4}, 4);
  REQUIRE(blocks);
  CHECK((*blocks)[2] == tensor::of<float>({1}, {4}));
  CHECK((*blocks)[3] == tensor::zeros(dtype::float32, {0}));
}

}  // namespace troupe::test
