// softmax and log_softmax over the last axis, shifted by the row's maximum so that nothing overflows.
#include "compute/kernels/elementary.hpp"
#include "compute/kernels/simd.hpp"
#include "compute/operations/lowering.hpp"

namespace troupe {
namespace {

/// Calls f(packet, first element, count) over one row.
template <class T, class F>
void over_row(const T* x, int64_t n, F f) {
  int64_t j = 0;
  for (; j + simd::width<T> <= n; j += simd::width<T>)
    f(simd::load(x + j), j, simd::width<T>);
  if (j < n)
    f(simd::load_part(x + j, n - j), j, n - j);
}

/// x with `rest` in all lanes from `count` on.
template <class T>
simd::packet<T> filled(const simd::packet<T>& x, int64_t count, T rest) {
  if (count == simd::width<T>)
    return x;
  alignas(64) T lanes[simd::width<T>];
  simd::store(lanes, simd::set(rest));
  simd::store_part(lanes, x, count);
  return simd::load(static_cast<const T*>(lanes));
}

template <class T, bool Log>
void softmax_kernel(const kernel_call& c, run_state& s) {
  const int64_t n = c.n[1];
  for (int64_t i = 0; i < c.n[0]; ++i) {
    const T* x = c.to<const T>(s, 0) + i * n;
    T* y = c.to<T>(s, 1) + i * n;
    // The maximum may ignore a NaN here, because the sum becomes NaN.
    auto highest_lanes = simd::set(x[0]);
    over_row(x, n, [&](const simd::packet<T>& v, int64_t, int64_t count) {
      highest_lanes = simd::pmax(filled<T>(v, count, x[0]), highest_lanes);
    });
    const T highest = simd::fold<T>(highest_lanes, [](T a, T b) { return a > b ? a : b; });
    const auto shift = simd::set(highest);
    const T sum = static_cast<T>(simd::sum<T>(n, [&](int64_t j, int64_t count) {
      const auto e = simd::pexp(simd::psub(simd::load_some(x + j, count), shift));
      if constexpr (!Log)
        simd::store_part(y + j, e, count);
      return e;
    }));
    if constexpr (Log) {  // Not v - (max + log Σ), where a large maximum would absorb log Σ.
      const auto all = simd::set(elementary::log(sum));
      over_row(x, n, [&](const simd::packet<T>& v, int64_t j, int64_t count) {
        simd::store_part(y + j, simd::psub(simd::psub(v, shift), all), count);
      });
    } else {
      const auto all = simd::set(T{1} / sum);
      over_row(y, n, [&](const simd::packet<T>& v, int64_t j, int64_t count) {
        simd::store_part(y + j, simd::pmul(v, all), count);
      });
    }
  }
}

template <bool Log>
void lower_softmax(lowering& l) {
  const shape& dims = l.out().dims;
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[1] = dims[dims.rank() - 1];
  l.kernel.n[0] = dims.elements() / std::max<int64_t>(1, l.kernel.n[1]);
  const int64_t row = l.kernel.n[1] * size_of(l.in(0).type);
  l.division = {.items = l.kernel.n[0], .step = {row, row}};
  l.run(l.in(0).type, softmax_kernel<float, Log>, softmax_kernel<double, Log>);
}

symbol over_last_axis(const operation& op, symbol x, std::source_location at) {
  graph* g = common_graph(op.name, {x}, at);
  if (!g)
    return x;
  if (!is_floating(x.type()) || x.rank() < 1)
    return refuse(*g, op.name,
                  "no last axis to normalise in " + std::string{to_string(x.type())} + " " + to_string(*g, x.dims()),
                  at);
  return append(*g, op, {x}, x.type(), symbol_shape{x.dims()}, at);
}

symbol sum_last(symbol x, std::source_location at) { return reduce_sum(x, {{-1}, true}, at); }

}  // namespace

namespace ops {
// dx = y·(dy - Σ dy·y)
const operation softmax{
    .name = "softmax",
    .gradient =
        [](const gradient_input& in) {
          const symbol weighted = troupe::mul(in.dy, in.y, in.at);
          return std::vector<symbol>{troupe::mul(in.y, troupe::sub(in.dy, sum_last(weighted, in.at), in.at), in.at)};
        },
    .lower = lower_softmax<false>,
    .in_place = true};
// dx = dy - e^y·Σ dy
const operation log_softmax{
    .name = "log_softmax",
    .gradient =
        [](const gradient_input& in) {
          const symbol p = troupe::exp(in.y, in.at);
          return std::vector<symbol>{troupe::sub(in.dy, troupe::mul(p, sum_last(in.dy, in.at), in.at), in.at)};
        },
    .lower = lower_softmax<true>,
    .in_place = true};
}  // namespace ops

symbol softmax(symbol x, std::source_location at) { return over_last_axis(ops::softmax, x, at); }
symbol log_softmax(symbol x, std::source_location at) { return over_last_axis(ops::log_softmax, x, at); }

}  // namespace troupe
