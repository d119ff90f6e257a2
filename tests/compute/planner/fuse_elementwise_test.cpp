// Fusion of element-wise calls: which calls are fused, and that their bits are those of separate calls.
#include "tests/compute/planned.hpp"
#include "tests/support/has.hpp"

namespace troupe {

using namespace test;

namespace {

/// Checks that values with and without fusion are equal; returns both numbers of kernels.
std::pair<int, int> compare(const shape& dims, const build& f) {
  planned together{dims, f}, apart{dims, f, {.fuse = false}};
  CHECK_FALSE(has(apart.p->to_text(), "fused"));
  CHECK(together.run() == apart.run());
  CHECK(together.run() == apart.run());  // Nothing that the second run reads was overwritten.
  return {together.kernels(), apart.kernels()};
}

}  // namespace

TEST_CASE(
    "an activation that is an expression is one kernel, its gradient one more, with the bits of the operations apart") {
  for (const auto f : {activation{gelu}, activation{elu}, activation{swish}}) {
    const std::source_location here;
    for (const shape& dims : {shape{7}, {1024}, {3000}, {5, 300}, {2, 3, 700}})
      CHECK(compare(dims, only([&](graph&, symbol x) { return f(x, here); })).first == 1);
    const auto [together, apart] = compare(
        {3000}, only([&](graph&, symbol x) { return gradients(reduce_sum(f(x, here)), std::vector{x})[0]; }));
    CHECK(together <= 2);
    CHECK(apart >= 4);
  }
}

TEST_CASE("operands that are stretched over rows or columns are part of the group") {
  const auto rows = compare({50, 80}, only([](graph& g, symbol x) {
                              const symbol row = g.constant(noise<float>({80}, 1)),
                                           column = g.constant(noise<float>({50, 1}, 2)),
                                           number = g.constant(f32({}, {3}));
                              return mul(sub(exp(add(x, row)), column), number);
                            }));
  CHECK(rows.first == 1);
  CHECK(rows.second == 4);
}

TEST_CASE("rows that are short, and operands stretched in more than one way, stay apart") {
  CHECK(compare({50, 8}, only([](graph& g, symbol x) { return exp(add(x, g.constant(noise<float>({8}, 1)))); })).first
        == 2);
  CHECK(compare({4, 5, 70}, only([](graph& g, symbol x) {
                  return exp(add(mul(x, g.constant(noise<float>({5, 1}, 1))), g.constant(noise<float>({4, 1, 70}, 2))));
                }))
            .first
        == 3);
}

TEST_CASE("a group of several dtypes computes, compares, chooses and casts") {
  const auto [together, apart] = compare(
      {2100}, only([](graph& g, symbol x) {
        const symbol zero = g.constant(f32({}, {0}));
        const symbol wide = cast(
            select(logical_and(greater(x, zero), less(x, g.constant(f32({}, {0.5})))), exp(x), neg(x)), dtype::float64);
        return cast(square(wide), dtype::float32);
      }));
  CHECK(together == 1);
  CHECK(apart == 9);
}

TEST_CASE("values that others read are kept, and who reads one ends its group") {
  const auto f = [](graph&, symbol x) {
    const symbol a = exp(x), b = square(a), c = neg(b);
    const symbol sum = reduce_sum(a);  // Reads `a` before `b` and `c` are computed.
    return std::map<std::string, symbol>{{"b", b}, {"c", c}, {"d", mul(c, sum)}};
  };
  planned together{{3000}, f};
  CHECK(together.kernels("fused: exp, square, neg\n") == 1);
  compare({3000}, f);
}

TEST_CASE("a chain that is longer than a group goes on in the next one") {
  const auto [together, apart] = compare({1500}, only([](graph& g, symbol x) {
                                           for (int i = 0; i < 60; ++i)
                                             x = add(sigmoid(x), g.constant(tensor::scalar(static_cast<float>(i))));
                                           return x;
                                         }));
  CHECK(apart == 120);
  CHECK(together == 5);
}

}  // namespace troupe
