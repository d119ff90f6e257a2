#include "cluster/row_split.hpp"

#include "support/has.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace troupe::test {

namespace {

/// A tensor of the numbers 0, 1, 2 ...
tensor counting(const shape& dims) {
  std::vector<float> values(static_cast<size_t>(dims.elements()));
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor::of<float>(dims, std::span<const float>{values});
}

std::string refusal(std::span<const tensor> components, int64_t parts, std::span<const int64_t> axes = {}) {
  const auto made = split(components, parts, axes);
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::invalid_argument);
  return made.error().message;
}

}  // namespace

TEST_CASE("[DF-17] images with their rows on axis 3 and labels are split into four parts, each a contiguous slice") {
  const std::vector<tensor> batch{counting({4, 4, 3, 8}), counting({8})};
  const auto parts = split(batch, 4, std::vector<int64_t>{3, 0});
  REQUIRE(parts);
  REQUIRE(parts->size() == 4);
  for (int64_t i = 0; i < 4; ++i) {
    const auto& part = (*parts)[static_cast<size_t>(i)];
    REQUIRE(part.size() == 2);
    REQUIRE(part[0].dims() == shape{4, 4, 3, 2});
    for (int64_t outer = 0; outer < 4 * 4 * 3; ++outer)
      for (int64_t k = 0; k < 2; ++k)
        CHECK(part[0].as<float>()[static_cast<size_t>(outer * 2 + k)] == static_cast<float>(outer * 8 + i * 2 + k));
    CHECK(part[1] == batch[1].slice(2 * i, 2));
  }
}

TEST_CASE("parts of axis 0 share the batch's memory") {
  const std::vector<tensor> batch{counting({6, 3}), counting({6})};
  const auto parts = split(batch, 3);
  REQUIRE(parts);
  for (size_t i = 0; i < 3; ++i) {
    CHECK((*parts)[i][0] == batch[0].slice(static_cast<int64_t>(2 * i), 2));
    CHECK((*parts)[i][0].data() == batch[0].data() + i * 2 * 3 * sizeof(float));
    CHECK((*parts)[i][1].data() == batch[1].data() + i * 2 * sizeof(float));
  }
}

TEST_CASE(
    "[DF-18] axes that are not there, extents that do not divide, another number of axes; one part takes anything") {
  const std::vector<tensor> image{counting({4, 4, 3, 8})}, six{counting({6})}, seven{counting({7})};
  CHECK(refusal(image, 4, std::vector<int64_t>{5})
        == "component 0 of shape [4, 4, 3, 8] has no axis 5 to be split along");
  CHECK(has(refusal(image, 4, std::vector<int64_t>{-1}), "has no axis -1"));
  CHECK(refusal(six, 4)
        == "component 0 of shape [6] cannot be split along axis 0 into 4 parts: 6 is no multiple of it");
  CHECK(refusal(six, 2, std::vector<int64_t>{0, 0})
        == "a batch of 1 components needs as many axes to be split along, not 2");
  const auto whole = split(seven, 1);
  REQUIRE(whole);
  REQUIRE(whole->size() == 1);
  CHECK((*whole)[0] == seven);
}

TEST_CASE("no component and no part are refused") {
  CHECK(refusal({}, 2) == "a batch without components cannot be split");
  const std::vector<tensor> one{counting({4})};
  CHECK(refusal(one, 0) == "a batch must be split into at least 1 part, not 0");
}

}  // namespace troupe::test
