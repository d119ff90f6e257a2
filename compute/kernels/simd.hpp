// Vectors of the CPU level compiled for: Eigen's packets, and loads and stores of a part of one.
//
// Loops over packets treat the last, partial one with the same instructions as the others, so that an element's bits do
// not depend on its position. Every instruction has one result by IEEE 754, on any processor: docs/numerics.md.
#pragma once

// If EIGEN_FAST_MATH is not 0, Eigen's square root starts from the processor's own approximation (rsqrtps), which
// differs between makers of processors.
#if defined(EIGEN_FAST_MATH) && EIGEN_FAST_MATH
#  error "Eigen was included before simd.hpp, or configured otherwise: its functions must be the exact ones"
#endif
#ifndef EIGEN_FAST_MATH
#  define EIGEN_FAST_MATH 0
#endif
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) && !defined(__SSE4_1__)
// Eigen's pow rounds packets, and Eigen 3.4 cannot before SSE4.1.
namespace Eigen::internal {
template <class Packet, class T>
Packet each_rounded(const Packet& x) {
  alignas(16) T t[16 / sizeof(T)];
  pstore(t, x);
  for (T& e : t)
    e = std::round(e);
  return pload<Packet>(t);
}
template <>
inline Packet4f pround<Packet4f>(const Packet4f& x) {
  return each_rounded<Packet4f, float>(x);
}
template <>
inline Packet2d pround<Packet2d>(const Packet2d& x) {
  return each_rounded<Packet2d, double>(x);
}
}  // namespace Eigen::internal
#endif

namespace troupe::simd {

template <class T>
using packet = typename Eigen::internal::packet_traits<T>::type;
template <class T>
inline constexpr int64_t width = Eigen::internal::packet_traits<T>::size;

using Eigen::internal::pabs;
using Eigen::internal::padd;
using Eigen::internal::pdiv;
using Eigen::internal::pexp;
using Eigen::internal::plog;
using Eigen::internal::pmadd;
using Eigen::internal::pmax;
using Eigen::internal::pmin;
using Eigen::internal::pmul;
using Eigen::internal::psqrt;
using Eigen::internal::psub;

// Eigen has no packet functions of these names for every type, but its formulas work for any.
template <class P>
inline P expm1(const P& x) {
  return Eigen::internal::generic_expm1(x);
}
template <class P>
inline P log1p(const P& x) {
  return Eigen::internal::generic_plog1p(x);
}
template <class P>
inline P pow(const P& x, const P& y) {
  return Eigen::internal::generic_pow(x, y);
}
inline packet<float> tanh(const packet<float>& x) { return Eigen::internal::ptanh(x); }

template <class P>
inline auto first(const P& x) {
  return Eigen::internal::pfirst(x);
}
template <class T>
inline packet<T> set(T x) {
  return Eigen::internal::pset1<packet<T>>(x);
}
template <class T>
inline packet<T> load(const T* p) {
  return Eigen::internal::ploadu<packet<T>>(p);
}
template <class T>
inline void store(T* p, const packet<T>& x) {
  Eigen::internal::pstoreu(p, x);
}

#ifdef __AVX2__
namespace detail {
alignas(64) inline constexpr int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
alignas(64) inline constexpr int64_t ones_then_zeros64[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
inline __m256i mask(const float*, int64_t n) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - n));
}
inline __m256i mask(const double*, int64_t n) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros64 + 4 - n));
}
}  // namespace detail
/// The first n elements (1 <= n <= width), then zeros; nothing beyond them is touched.
inline packet<float> load_part(const float* p, int64_t n) { return _mm256_maskload_ps(p, detail::mask(p, n)); }
inline packet<double> load_part(const double* p, int64_t n) { return _mm256_maskload_pd(p, detail::mask(p, n)); }
inline void store_part(float* p, const packet<float>& x, int64_t n) { _mm256_maskstore_ps(p, detail::mask(p, n), x); }
inline void store_part(double* p, const packet<double>& x, int64_t n) { _mm256_maskstore_pd(p, detail::mask(p, n), x); }
#else
template <class T>
inline packet<T> load_part(const T* p, int64_t n) {
  alignas(64) T t[width<T>] = {};
  std::memcpy(t, p, static_cast<size_t>(n) * sizeof(T));
  return load(t);
}
template <class T>
inline void store_part(T* p, const packet<T>& x, int64_t n) {
  alignas(64) T t[width<T>];
  store(t, x);
  std::memcpy(p, t, static_cast<size_t>(n) * sizeof(T));
}
#endif

/// Reduces x to one number by f: combines its lower half with its upper half until one element is left. The order of
/// the operations is therefore always the same.
template <class T, class F>
inline T fold(const packet<T>& x, F f) {
  alignas(64) T t[width<T>];
  store(t, x);
  for (int64_t n = width<T> / 2; n > 0; n /= 2)
    for (int64_t i = 0; i < n; ++i)
      t[i] = f(t[i], t[i + n]);
  return t[0];
}

/// Loads the first n elements (1 <= n <= width).
template <class T>
inline packet<T> load_some(const T* p, int64_t n) {
  return n == width<T> ? load(p) : load_part(p, n);
}

/// The sum of n numbers: in packets within chunks of 512, and of the chunks in double. f(i, count) yields the `count`
/// numbers from i on.
template <class T, class F>
inline double sum(int64_t n, F f) {
  constexpr int64_t chunk = 512;
  double total = 0;
  for (int64_t start = 0; start < n; start += chunk) {
    const int64_t end = std::min(n, start + chunk);
    auto lanes = set(T{0});
    int64_t i = start;
    for (; i + width<T> <= end; i += width<T>)
      lanes = padd(lanes, f(i, width<T>));
    if (i < end) {
      alignas(64) T part[width<T>] = {};  // Results for elements that do not exist are dropped.
      store_part(part, f(i, end - i), end - i);
      lanes = padd(lanes, load(static_cast<const T*>(part)));
    }
    total += static_cast<double>(fold<T>(lanes, [](T a, T b) { return a + b; }));
  }
  return total;
}

/// y[i] = f(x[i]) for a function on packets; x and y may be the same.
template <class T, class F>
inline void map(const T* x, T* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + width<T> <= n; i += width<T>)
    store(y + i, f(load(x + i)));
  if (i < n)
    store_part(y + i, f(load_part(x + i, n - i)), n - i);
}

}  // namespace troupe::simd
