// The loop that all updates share: clipping, decay and averages are done in the same sweep over memory as the rule.
#pragma once

#include "compute/kernels/elementary.hpp"
#include "compute/kernels/prefetch.hpp"
#include "compute/kernels/simd.hpp"
#include "compute/optimizers/update.hpp"

#include <cmath>

namespace troupe {

namespace detail {

/// Without clipping, decay and average (`surrounded` false) the loop has none of their instructions; otherwise it has
/// all of them, with factors of 1 for those that are not used.
template <bool surrounded, int slots, class T, class F>
void update_loop(const update_terms& terms, const update_range<T> x, F f) {
  const auto most = simd::set(static_cast<T>(terms.clip_value)), least = simd::set(static_cast<T>(-terms.clip_value));
  const auto scale = simd::set(static_cast<T>(terms.gradient_scale)), keep = simd::set(static_cast<T>(terms.keep));
  const auto rest = simd::set(static_cast<T>(1 - terms.average_decay));
  constexpr int64_t ahead = 2048 / sizeof(T);
  for (int64_t i = 0; i < x.n; i += simd::width<T>) {
    auto g = simd::load(x.g + i), v = simd::load(x.v + i);
    // Other threads have read this cache line of the variable, so it is requested for writing early. Slots and
    // gradient are used by this thread only.
    prefetch_to_write(x.v_to + i + ahead);
    [[maybe_unused]] simd::packet<T> average;
    if constexpr (surrounded) {
      g = simd::pmul(scale, simd::pmax(least, simd::pmin(most, g)));
      average = simd::load((x.average ? x.average : x.v) + i);
      v = simd::pmul(keep, v);
    }
    simd::packet<T> s[slots > 0 ? slots : 1];
    for (int k = 0; k < slots; ++k)
      s[k] = simd::load(x.slot[k] + i);
    const auto to = f(g, v, s);
    for (int k = 0; k < slots; ++k)
      simd::store(x.slot_to[k] + i, s[k]);
    simd::store(x.v_to + i, to);
    if constexpr (surrounded)
      if (x.average)
        simd::store(x.average_to + i, simd::pmadd(rest, simd::psub(to, average), average));
  }
}

}  // namespace detail

/// Whether the update does more to a gradient or variable than the rule alone.
template <class T>
bool is_surrounded(const update_terms& terms, const update_range<T>& x) {
  return std::isfinite(terms.clip_value) || terms.gradient_scale != 1 || terms.keep != 1 || x.average;
}

/// f(g, v, s) returns the new value of a packet of variables, and updates its slots s in place. Ranges begin and end at
/// multiples of 64 bytes: whole packets.
template <int slots, class T, class F>
void update_packets(const update_terms& terms, const update_range<T>& x, F f) {
  if (is_surrounded(terms, x))
    detail::update_loop<true, slots>(terms, x, f);
  else
    detail::update_loop<false, slots>(terms, x, f);
}

template <class T>
simd::packet<T> packet_of(double x) {
  return simd::set(static_cast<T>(x));
}

/// rate·sqrt(1-β2^t)/(1-β1^t): Adam's rate, both biases corrected.
template <class Rule>
double corrected_rate(const Rule& o, const update_terms& terms) {
  return terms.rate * std::sqrt(1 - elementary::power(o.beta2, terms.t)) / (1 - elementary::power(o.beta1, terms.t));
}

}  // namespace troupe
