#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <limits>

namespace troupe {

using namespace test;

namespace {

tensor searched(const tensor& sorted, const tensor& x) {
  return value([&](graph& g) { return search_sorted(g.constant(sorted), g.constant(x)); });
}

}  // namespace

TEST_CASE("search_sorted counts the elements below, of which an equal one is none") {
  CHECK(searched(f32({4}, {0, 1, 1, 3}), f32({2, 3}, {-1, 0, 0.5f, 1, 2, 4})) == i32({2, 3}, {0, 0, 1, 1, 3, 4}));
  CHECK(searched(i64({3}, {-5, 0, 7}), i64({}, {7})) == i32({}, {2}));
  CHECK(searched(f64({1}, {2}), f64({3}, {1, 2, 3})) == i32({3}, {0, 0, 1}));
  CHECK(searched(i32({0}, {}), i32({2}, {1, 2})) == i32({2}, {0, 0}));
}

TEST_CASE("search_sorted finds every place among any number of elements, and NaN below none") {
  for (int64_t n = 1; n <= 70; ++n) {
    std::vector<float> sorted, x;
    std::vector<int32_t> wanted;
    for (int64_t i = 0; i < n; ++i)
      sorted.push_back(static_cast<float>(2 * i));
    for (int64_t i = 0; i <= n; ++i)
      for (const int64_t at : {2 * i - 1, 2 * i}) {
        x.push_back(static_cast<float>(at));
        wanted.push_back(static_cast<int32_t>(i));
      }
    x.push_back(std::numeric_limits<float>::quiet_NaN());
    wanted.push_back(0);
    const auto rows = std::ssize(x);
    CHECK(searched(tensor::of<float>({n}, std::span<const float>{sorted}),
                   tensor::of<float>({rows}, std::span<const float>{x}))
          == tensor::of<int32_t>({rows}, std::span<const int32_t>{wanted}));
  }
}

TEST_CASE("search_sorted refuses other dtypes and what is no row") {
  const auto refused = [](const tensor& sorted, const tensor& x) {
    return refusal([&](graph& g) { return search_sorted(g.constant(sorted), g.constant(x)); });
  };
  const std::string needs = "search_sorted: needs numbers of one dtype, the first of them a row";
  CHECK(has(refused(f32({2}, {0, 1}), f64({1}, {0})), needs));
  CHECK(has(refused(f32({1, 2}, {0, 1}), f32({1}, {0})), needs));
  CHECK(has(refused(bools({1}, {true}), bools({1}, {true})), needs));
}

}  // namespace troupe
