#include "compute/graph/operation.hpp"
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

namespace troupe {

using namespace test;

TEST_CASE("many products at once are those one by one, in every orientation, and leading axes broadcast") {
  const int64_t m = 3, k = 5, n = 4;
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (const auto& [lead_a, lead_b] :
           {std::pair{shape{2}, shape{2}}, {{1}, {3}}, {{2, 1}, {3}}, {{}, {2}}, {{2, 2}, {}}}) {
        shape a = ta ? shape{k, m} : shape{m, k}, b = tb ? shape{n, k} : shape{k, n};
        for (int i = lead_a.rank() - 1; i >= 0; --i)
          a = a.prepend(lead_a[i]);
        for (int i = lead_b.rank() - 1; i >= 0; --i)
          b = b.prepend(lead_b[i]);
        const tensor x = noise<double>(a, 1), y = noise<double>(b, 2);
        const tensor z = value([&](graph& g) { return matmul(g.constant(x), g.constant(y), {ta, tb}); });
        const int rank = z.dims().rank();
        CHECK(rank == std::max(a.rank(), b.rank()));
        const int64_t count = z.elements() / (m * n);
        // The matrix of operand `t` that belongs to matrix `i` of the result.
        const auto matrix = [&](const tensor& t, int64_t i) {
          int64_t at = 0, stride = 1;
          for (int axis = rank - 3, own = t.dims().rank() - 3; axis >= 0; --axis, --own) {
            const int64_t index = i % z.dims()[axis];
            i /= z.dims()[axis];
            if (own >= 0) {
              at += (t.dims()[own] == 1 ? 0 : index) * stride;
              stride *= t.dims()[own];
            }
          }
          return t.as<double>().subspan(
              static_cast<size_t>(at * t.dims()[t.dims().rank() - 1] * t.dims()[t.dims().rank() - 2]));
        };
        for (int64_t i = 0; i < count; ++i)
          for (int64_t r = 0; r < m; ++r)
            for (int64_t c = 0; c < n; ++c) {
              double want = 0;
              for (int64_t p = 0; p < k; ++p)
                want += matrix(x, i)[static_cast<size_t>(ta ? p * m + r : r * k + p)]
                        * matrix(y, i)[static_cast<size_t>(tb ? c * k + p : p * n + c)];
              REQUIRE(z.as<double>()[static_cast<size_t>((i * m + r) * n + c)] == doctest::Approx(want).epsilon(1e-13));
            }
      }
}

TEST_CASE("rows of many images are one product, and keep an unknown batch") {
  graph g;
  const extent batch = g.unknown("batch");
  const symbol x = g.placeholder("x", dtype::float32, {batch, 7, 4});
  CHECK(matmul(x, g.variable({.name = "w", .dims = {4, 2}})).dims() == symbol_shape{batch, 7, 2});
  CHECK(matmul(x, x, {false, true}).dims() == symbol_shape{batch, 7, 7});
  CHECK(g.status());
}

TEST_CASE("products that do not fit are errors with both shapes") {
  const auto zeros = [](graph& g, const shape& dims) { return g.constant(tensor::zeros(dtype::float32, dims)); };
  CHECK(has(refusal([&](graph& g) {
              return matmul(zeros(g, {2, 3}), zeros(g, {2, 3}));
            }),
            "inner extents differ: [2, 3] and [2, 3]"));
  CHECK(refusal([&](graph& g) {
          return matmul(zeros(g, {3}), zeros(g, {3, 2}));
        }).find("operands must have rank 2 or more, not [3] and [3, 2]")
        != std::string::npos);
  CHECK(refusal([&](graph& g) {
          return matmul(zeros(g, {2, 2, 3}), zeros(g, {3, 3, 2}));
        }).find("leading axes do not broadcast: [2, 2, 3] and [3, 3, 2]")
        != std::string::npos);
}

}  // namespace troupe
