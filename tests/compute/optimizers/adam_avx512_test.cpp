// Adam's update with 512-bit vectors, compared with its formula number by number.
#include "compute/optimizers/adam_avx512.hpp"

#include "compute/kernels/vectors.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#if defined(__AVX2__) && defined(__x86_64__)

namespace troupe {
namespace {

/// Skips the test, and counts it as skipped, if the processor has no such vectors.
doctest::skip needs_avx512() { return doctest::skip{widest_vectors() != vector_level::avx512}; }

/// The formula with one operation for each instruction, in the order of compute/optimizers/adam.cpp.
float updated(const adam_avx512::factors& f, float g, float v, float& m, float& s) {
  m = std::fma(f.beta1, m, f.rest1 * g);
  s = std::fma(f.beta2, s, f.rest2 * g * g);
  return v + f.minus_rate * m / (std::sqrt(s) + f.epsilon);
}

/// How many of these second moments give another result than the formula. The first moments are 1 or greater.
int64_t wrong_updates(const std::vector<float>& moments) {
  const adam_avx512::factors f{.beta1 = 1,
                               .rest1 = 0,
                               .beta2 = 1,
                               .rest2 = 0,
                               .minus_rate = 1,
                               .epsilon = 0,
                               .surrounded = false,
                               .clip_value = 0,
                               .gradient_scale = 1,
                               .keep = 1,
                               .average_rest = 1};
  const auto n = static_cast<int64_t>(moments.size());
  const std::vector<float> zeros(moments.size(), 0.0f);
  std::vector<float> first(moments.size()), second = moments, to(moments.size());
  for (size_t i = 0; i < first.size(); ++i)
    first[i] = 1 + static_cast<float>(i % 128) / 128;
  const std::vector<float> before = first;
  adam_avx512::run(f, {.n = n,
                       .g = zeros.data(),
                       .v = zeros.data(),
                       .v_to = to.data(),
                       .slot = {first.data(), second.data()},
                       .slot_to = {first.data(), second.data()}});
  int64_t wrong = 0;
  for (size_t i = 0; i < moments.size(); ++i) {
    float m = before[i], s = moments[i];
    const float want = updated(f, 0, 0, m, s);
    wrong += std::bit_cast<uint32_t>(want) != std::bit_cast<uint32_t>(to[i]) && !(std::isnan(want) && std::isnan(to[i]))
                 ? 1
                 : 0;
  }
  return wrong;
}

}  // namespace

TEST_CASE("roots made of multiplications have the bits of the processor's own for every mantissa" * needs_avx512()) {
  constexpr uint32_t binades = 0x3f800000;  // All numbers from 1 to 4: roots repeat every two binades.
  constexpr uint32_t chunk = 1 << 18;
  int64_t wrong = 0;
  for (uint32_t from = binades; from < binades + (1u << 24); from += chunk) {
    std::vector<float> moments;
    // Each group of sixteen occurs twice, so that no two adjacent vectors use the divider.
    for (uint32_t bits = from; bits < from + chunk; bits += 16)
      for (int turn = 0; turn < 2; ++turn)
        for (uint32_t lane = 0; lane < 16; ++lane)
          moments.push_back(std::bit_cast<float>(bits + lane));
    wrong += wrong_updates(moments);
  }
  CHECK(wrong == 0);
}

TEST_CASE("the roots of zero, of numbers of every size and of what is no number have the bits of the processor's own"
          * needs_avx512()) {
  std::vector<float> moments;
  for (uint32_t bits = 0; bits < 0x80000000; bits += 40'961)
    moments.push_back(std::bit_cast<float>(bits));
  for (const float special : {0.0f, 1e-45f, 0x1p-126f, 0x1p-90f, 0x1p120f, std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::infinity(), -1.0f})
    moments.insert(moments.end(), 33, special);
  moments.resize(moments.size() / 16 * 16);
  CHECK(wrong_updates(moments) == 0);
}

TEST_CASE("clipping, scaling, decay and an average around Adam have the bits of their formulas in vectors of 512 bits"
          * needs_avx512()) {
  const adam_avx512::factors f{.beta1 = 0.9f,
                               .rest1 = 0.1f,
                               .beta2 = 0.999f,
                               .rest2 = 0.001f,
                               .minus_rate = -0.01f,
                               .epsilon = 1e-7f,
                               .surrounded = true,
                               .clip_value = 0.5f,
                               .gradient_scale = 0.75f,
                               .keep = 0.99f,
                               .average_rest = 0.1f};
  constexpr size_t n = 80;
  std::vector<float> g(n), v(n), m(n, 0.0f), s(n, 0.0f), average(n);
  for (size_t i = 0; i < n; ++i)
    g[i] = static_cast<float>(i) / 32 - 1.25f, v[i] = static_cast<float>(i * i % 17) - 8, average[i] = v[i] / 2;
  auto want_v = v, want_m = m, want_s = s, want_average = average;
  for (int step = 0; step < 3; ++step) {
    adam_avx512::run(f, {.n = n,
                         .g = g.data(),
                         .v = v.data(),
                         .v_to = v.data(),
                         .slot = {m.data(), s.data()},
                         .slot_to = {m.data(), s.data()},
                         .average = average.data(),
                         .average_to = average.data()});
    for (size_t i = 0; i < n; ++i) {
      const float clipped = f.gradient_scale * std::fmax(-f.clip_value, std::fmin(f.clip_value, g[i]));
      want_v[i] = updated(f, clipped, f.keep * want_v[i], want_m[i], want_s[i]);
      want_average[i] = std::fma(f.average_rest, want_v[i] - want_average[i], want_average[i]);
    }
  }
  CHECK(v == want_v);
  CHECK(m == want_m);
  CHECK(s == want_s);
  CHECK(average == want_average);
}

}  // namespace troupe

#endif
