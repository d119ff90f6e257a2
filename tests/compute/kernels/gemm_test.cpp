// The matrix product kernels at each level of vector instructions.
#include "compute/kernels/gemm.hpp"

#include "compute/kernels/vectors.hpp"
#include "tests/compute/model_fixture.hpp"

#include <cmath>

namespace troupe {

using namespace test;

namespace {

/// C as computed by one level's kernel. C and the workspace are first filled with other bytes; the bytes behind the
/// workspace must not change.
template <class T, class F>
std::vector<T> product_by(F run, const gemm_shape& s, const std::vector<T>& a, const std::vector<T>& b,
                          const std::vector<T>& bias, const std::vector<T>& mask, int ends) {
  std::vector<T> c(static_cast<size_t>(s.m * s.n), T{77});
  std::vector<std::byte> workspace(static_cast<size_t>(gemm_workspace<T>(s)) + 64, std::byte{0x7f});
  gemm_operands<T> x{a.data(), b.data(), c.data()};
  x.bias = (ends & 1) != 0 ? bias.data() : nullptr;
  x.mask = (ends & 2) != 0 ? mask.data() : nullptr;
  x.relu = (ends & 4) != 0;
  run(s, x, workspace.data());
  for (size_t i = workspace.size() - 64; i < workspace.size(); ++i)
    REQUIRE(workspace[i] == std::byte{0x7f});
  return c;
}

template <class T>
std::vector<T> numbers_of(int64_t n, uint64_t seed) {
  const tensor t = noise<T>({n}, seed);
  return {t.as<T>().begin(), t.as<T>().end()};
}

template <class T>
void check_levels(const gemm_shape& s) {
  const auto a = numbers_of<T>(s.m * s.k, 1), b = numbers_of<T>(s.k * s.n, 2), bias = numbers_of<T>(s.n, 3),
             mask = numbers_of<T>(s.m * s.n, 4);
  const auto base = [](const gemm_shape& shape, const gemm_operands<T>& x, std::byte* w) {
    gemm_base::run(shape, x, w);
  };
  for (int ends : {0, 1, 6, 7}) {
    CAPTURE(ends);
    const auto want = product_by<T>(base, s, a, b, bias, mask, ends);
    for (int64_t i = 0; i<s.m; i += s.m> 40 ? 3 : 1)
      for (int64_t j = 0; j<s.n; j += s.n> 40 ? 7 : 1) {
        T sum = (ends & 1) != 0 ? bias[static_cast<size_t>(j)] : T{0};
        for (int64_t p = 0; p < s.k; ++p)
          sum = std::fma(a[static_cast<size_t>(s.transpose_a ? p * s.m + i : i * s.k + p)],
                         b[static_cast<size_t>(s.transpose_b ? j * s.k + p : p * s.n + j)], sum);
        const auto at = static_cast<size_t>(i * s.n + j);
        if (((ends & 2) != 0 && !(mask[at] > 0)) || ((ends & 4) != 0 && sum < 0))
          sum = 0;
#ifdef __FMA__
        REQUIRE(want[at] == sum);
#else
        REQUIRE(static_cast<double>(want[at])
                == doctest::Approx(static_cast<double>(sum)).scale(1).epsilon(sizeof(T) == 4 ? 2e-5 : 1e-12));
#endif
      }
#if defined(__AVX2__) && defined(__x86_64__)
    if (widest_vectors() == vector_level::avx512) {
      const auto wide = [](const gemm_shape& shape, const gemm_operands<T>& x, std::byte* w) {
        gemm_avx512::run(shape, x, w);
      };
      REQUIRE(std::memcmp(product_by<T>(wide, s, a, b, bias, mask, ends).data(), want.data(), want.size() * sizeof(T))
              == 0);
    }
#endif
  }
}

}  // namespace

TEST_CASE(
    "products of every level are one chain of multiply-adds an element at all edges, and stay within their workspace") {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                    {3, 10, 7},
                                    {12, 32, 16},
                                    {13, 33, 9},
                                    {23, 31, 257},
                                    {32, 15, 64},
                                    {40, 200, 300},
                                    {250, 17, 20},
                                    {6, 16, 600},
                                    {37, 64, 1024},
                                    {2, 3, 0},
                                    // Around the block sizes of rows, columns and depth; with packed and unpacked
                                    // operands.
                                    {48, 512, 256},
                                    {49, 513, 257},
                                    {97, 70, 512},
                                    {193, 544, 30},
                                    {61, 300, 512},
                                    {99, 40, 1024},
                                    {100, 129, 1025},
                                    {121, 16, 784},
                                    {157, 256, 900},
                                    // Tiles narrower than a vector, also as the last ones.
                                    {139, 513, 65},
                                    {55, 512, 3},
                                    {13, 640, 1},
                                    {241, 40, 34},
                                    {245, 530, 10},
                                    // A single row.
                                    {1, 16, 33},
                                    {1, 256, 784},
                                    {1, 421, 300},
                                    // Operands so large that the kernel prefetches.
                                    {300, 290, 520}}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        check_levels<float>({m, n, k, ta, tb});
        check_levels<double>({m, n, k, ta, tb});
      }
}

TEST_CASE("a share of a product, of its rows or of its columns, needs no more workspace than the whole") {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (int64_t m : {1, 36, 47, 100, 127, 128, 129, 132, 133, 140, 191, 192, 230, 241, 1000, 3000})
        for (int64_t n : {10, 100, 127, 128, 200, 255, 256, 300, 511, 512, 784, 1024, 2000})
          for (int64_t k : {1, 10, 100, 511, 512, 513, 784, 1023, 1024, 1025, 1100, 2048, 3136}) {
            const int64_t lda = ta ? m : k, ldb = tb ? k : n, whole = gemm_workspace<float>({m, n, k, ta, tb});
            const auto needs = [&](int64_t rows, int64_t columns) {
              const gemm_shape share{rows, columns, k, ta, tb};
              return places_of(share, packing_of(share, lda, ldb), 4).end;
            };
            REQUIRE(needs(m, n) <= whole);
            for (int64_t part :
                 {1, 8, 32, 36, 48, 60, 96, 100, 127, 128, 129, 132, 191, 192, 240, 255, 256, 511, 512, 700})
              REQUIRE((needs(std::min(m, part), n) <= whole && needs(m, std::min(n, part)) <= whole));
          }
}

}  // namespace troupe
