#include "compute/parameters/flat_gradient.hpp"

#include "compute/kernels/denormals.hpp"
#include "compute/kernels/simd.hpp"
#include "compute/parameters/touched_rows.hpp"

#include <cmath>
#include <cstring>

namespace troupe {
namespace {

using byte_range = std::pair<int64_t, int64_t>;

/// `into` may be the same as `a`.
template <class T>
void add(T* into, const T* a, const T* b, int64_t n) {
  for (int64_t i = 0; i < n; i += simd::width<T>)
    simd::store(into + i, simd::padd(simd::load(a + i), simd::load(b + i)));
}

/// into = a + b for bytes [first, last) of vectors of one layout.
void add_bytes(dtype type, std::byte* into, const std::byte* a, const std::byte* b, int64_t first, int64_t last) {
  if (type == dtype::float64)
    add(reinterpret_cast<double*>(into + first), reinterpret_cast<const double*>(a + first),
        reinterpret_cast<const double*>(b + first), (last - first) / 8);
  else
    add(reinterpret_cast<float*>(into + first), reinterpret_cast<const float*>(a + first),
        reinterpret_cast<const float*>(b + first), (last - first) / 4);
}

/// The dense part of into = a + b.
void add_dense(const parameter_layout& layout, byte_range slice, std::byte* into, const std::byte* a,
               const std::byte* b) {
  for (const auto& run : layout.ranges())
    for_dense_parts(layout.sparse(), std::max(slice.first, run.first), std::min(slice.second, run.last),
                    [&](int64_t first, int64_t last) { add_bytes(run.type, into, a, b, first, last); });
}

const uint64_t* bits_of(const parameter_layout& layout, const sparse_rows& s, const std::byte* bits) {
  return reinterpret_cast<const uint64_t*>(bits + (s.bits - layout.flat_bytes()));
}

uint64_t* bits_of(const parameter_layout& layout, const sparse_rows& s, std::byte* bits) {
  return reinterpret_cast<uint64_t*>(bits + (s.bits - layout.flat_bytes()));
}

int64_t words_of(const sparse_rows& s) { return (s.rows + 63) / 64; }

/// into += from for the sparse rows, and for their bits.
void add_rows(const sparse_rows& s, byte_range slice, std::byte* into, uint64_t* bits, const std::byte* from,
              const uint64_t* touched) {
  for_touched_lines(s, touched, slice,
                    [&](int64_t first, int64_t last) { add_bytes(s.type, into, into, from, first, last); });
  for (int64_t word = 0; word < words_of(s); ++word)
    bits[word] |= touched[word];
}

/// 0·x is 0 for finite x and NaN otherwise, so one sum checks all elements, at the speed of memory.
template <class T>
bool all_finite(const T* x, int64_t n) {
  constexpr int64_t w = simd::width<T>;
  const auto zero = simd::set(T{0});
  simd::packet<T> sums[4] = {zero, zero, zero, zero};
  int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w)
    for (int64_t j = 0; j < 4; ++j)
      sums[j] = simd::pmadd(zero, simd::load(x + i + j * w), sums[j]);
  for (; i < n; i += w)
    sums[0] = simd::pmadd(zero, simd::load(x + i), sums[0]);
  const auto sum = simd::padd(simd::padd(sums[0], sums[1]), simd::padd(sums[2], sums[3]));
  return simd::fold<T>(sum, [](T a, T b) { return a + b; }) == T{0};
}

bool run_is_finite(dtype type, const std::byte* x, int64_t bytes) {
  return type == dtype::float64 ? all_finite(reinterpret_cast<const double*>(x), bytes / 8)
                                : all_finite(reinterpret_cast<const float*>(x), bytes / 4);
}

}  // namespace

void add_gradient(const parameter_layout& layout, std::byte* into, const std::byte* from) {
  add_gradient(layout, {0, layout.flat_bytes()}, into, into + layout.flat_bytes(), whole_gradient(layout, from));
}

void add_gradient(const parameter_layout& layout, byte_range slice, std::byte* into, std::byte* bits,
                  gradient_view from) {
  const flush_denormals tiny_is_zero;
  add_dense(layout, slice, into, into, from.values);
  for (const auto& s : layout.sparse())
    add_rows(s, slice, into, bits_of(layout, s, bits), from.values, bits_of(layout, s, from.bits));
}

void add_gradients(const parameter_layout& layout, byte_range slice, std::byte* into, std::byte* bits, gradient_view a,
                   gradient_view b) {
  const flush_denormals tiny_is_zero;
  add_dense(layout, slice, into, a.values, b.values);
  for (const auto& s : layout.sparse()) {
    auto* const touched = bits_of(layout, s, bits);
    const auto* const of_a = bits_of(layout, s, a.bits);
    for_touched_lines(s, touched, slice, [&](int64_t first, int64_t last) {
      std::memset(into + first, 0, static_cast<size_t>(last - first));
    });
    for_touched_lines(s, of_a, slice, [&](int64_t first, int64_t last) {
      std::memcpy(into + first, a.values + first, static_cast<size_t>(last - first));
    });
    std::copy(of_a, of_a + words_of(s), touched);
    add_rows(s, slice, into, touched, b.values, bits_of(layout, s, b.bits));
  }
}

bool is_finite(const parameter_layout& layout, byte_range slice, const std::byte* gradient) {
  return is_finite(layout, slice, whole_gradient(layout, gradient));
}

bool is_finite(const parameter_layout& layout, byte_range slice, gradient_view gradient) {
  bool all = true;
  for (const auto& run : layout.ranges()) {
    const int64_t first = std::max(slice.first, run.first), last = std::min(slice.second, run.last);
    for_dense_parts(layout.sparse(), first, last, [&](int64_t from, int64_t to) {
      all = run_is_finite(run.type, gradient.values + from, to - from) && all;
    });
  }
  for (const auto& s : layout.sparse())
    for_touched_lines(s, bits_of(layout, s, gradient.bits), slice, [&](int64_t first, int64_t last) {
      all = run_is_finite(s.type, gradient.values + first, last - first) && all;
    });
  return all;
}

}  // namespace troupe
