// Pooling: the maximum or the mean of windows of an image, channel by channel.
//
// max_pool_pick(x, f) takes f where x is greatest in the window, and max_pool_gradient(x, dy) puts dy there. Each is
// linear in its second operand and the other's adjoint. max_pool(x) is the pick of x itself.
#include "compute/kernels/convolution.hpp"
#include "compute/kernels/simd.hpp"
#include "compute/operations/lowering.hpp"
#include "compute/operations/windows/windows.hpp"

namespace troupe {
namespace {

using in = const gradient_input&;
using list = std::vector<symbol>;

/// Elements [first, last) of an axis that window `i` covers.
std::pair<int64_t, int64_t> covered(const image_windows::axis& a, int64_t i, int64_t extent) {
  const int64_t first = i * a.stride - a.pad;
  return {std::max<int64_t>(0, first), std::min(extent, first + a.kernel)};
}

/// Calls f(first element of the pooled pixel, first pixel of the window, number of its rows, of its columns) for each
/// window.
template <class F>
void for_each_window(const kernel_call& c, F f) {
  const image_windows& g = c.convolution->windows;
  int64_t pooled = 0;
  for (int64_t b = 0; b < c.n[0]; ++b)
    for (int64_t row = 0; row < g.rows; ++row)
      for (int64_t column = 0; column < g.columns; ++column, pooled += g.channels) {
        const auto [y0, y1] = covered(g.y, row, g.height);
        const auto [x0, x1] = covered(g.x, column, g.width);
        f(pooled, (b * g.height + y0) * g.width + x0, y1 - y0, x1 - x0);
      }
}

/// Calls f(V{}, first channel) for all channels: in vectors V, and the last ones one by one.
template <class T, class F>
__attribute__((always_inline)) inline void for_each_channels(int64_t channels, F f) {
  typedef T lanes __attribute__((vector_size(sizeof(T) * simd::width<T>)));
  int64_t i = 0;
  for (; i + simd::width<T> <= channels; i += simd::width<T>)
    f(lanes{}, i);
  for (; i < channels; ++i)
    f(T{}, i);
}

/// The result type of a comparison of Vs; pixel numbers have that type, so that they are selected like values.
template <class V>
using count_of = decltype(V{} > V{});
template <class V>
using pixel_number = std::conditional_t<std::is_same_v<count_of<V>, bool>, int32_t, count_of<V>>;

template <class V, class T>
__attribute__((always_inline)) inline void read(V& v, const T* p) {
  std::memcpy(&v, p, sizeof v);
}

/// Each channel's maximum in a window and its position, counted pixel by pixel: the first of equals. NaN is greater
/// than all numbers.
template <class V>
struct greatest {
  V most{};
  pixel_number<V> at{};

  template <class T>
  __attribute__((always_inline)) greatest(const T* x, const image_windows& g, int64_t rows, int64_t columns) {
    read(most, x);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t q = 0; q < columns; ++q) {
        V v;
        read(v, x + (r * g.width + q) * g.channels);
        const auto more = (v > most) | ((v != v) & (most == most));
        most = more ? v : most;
        at = more ? pixel_number<V>{} + static_cast<int32_t>(r * columns + q) : at;
      }
  }
  auto is(int64_t pixel) const __attribute__((always_inline)) {
    return at == pixel_number<V>{} + static_cast<int32_t>(pixel);
  }
};

/// For each window and some channels at a time, calls f(their maxima, first element in x, first element in the result,
/// rows of the window, columns).
template <class T, class F>
void for_each_greatest(const kernel_call& c, const T* x, F f) {
  const image_windows& g = c.convolution->windows;
  for_each_window(c, [&](int64_t pooled, int64_t pixel, int64_t rows, int64_t columns) {
    const auto window = [&](int64_t high, int64_t wide) __attribute__((always_inline)) {
      for_each_channels<T>(
          g.channels, [&]<class V>(V, int64_t i) __attribute__((always_inline)) {
            const int64_t first = pixel * g.channels + i;
            f(greatest<V>{x + first, g, high, wide}, first, pooled + i, high, wide);
          });
    };
    if (rows == 2 && columns == 2)  // The usual size: known to the compiler, which unrolls the loops.
      window(2, 2);
    else
      window(rows, columns);
  });
}

template <class T>
void pick_kernel(const kernel_call& c, run_state& s) {
  const T* from = c.to<const T>(s, 1);
  T* y = c.to<T>(s, 2);
  const image_windows& g = c.convolution->windows;
  for_each_greatest(
      c, c.to<const T>(s, 0),
      [&]<class V>(const greatest<V>& found, int64_t first, int64_t pooled, int64_t rows, int64_t columns)
          __attribute__((always_inline)) {
            V picked{};
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t q = 0; q < columns; ++q) {
                V v;
                read(v, from + first + (r * g.width + q) * g.channels);
                picked = found.is(r * columns + q) ? v : picked;
              }
            std::memcpy(y + pooled, &picked, sizeof picked);
          });
}

template <class T>
void max_kernel(const kernel_call& c, run_state& s) {
  T* y = c.to<T>(s, 1);
  for_each_greatest(
      c, c.to<const T>(s, 0),
      [&]<class V>(const greatest<V>& found, int64_t, int64_t pooled, int64_t, int64_t)
          __attribute__((always_inline)) { std::memcpy(y + pooled, &found.most, sizeof found.most); });
}

/// Whether every pixel is in exactly one window.
bool tiled(const image_windows& g) {
  const auto whole = [](const image_windows::axis& a, int64_t extent, int64_t windows) {
    return a.pad == 0 && a.kernel == a.stride && windows * a.stride == extent;
  };
  return whole(g.y, g.height, g.rows) && whole(g.x, g.width, g.columns);
}

/// With `flags` set, the result is 0 where the maximum is not positive: x is the output of a relu there.
template <class T>
void max_gradient_kernel(const kernel_call& c, run_state& s) {
  const image_windows& g = c.convolution->windows;
  const T* dy = c.to<const T>(s, 1);
  T* dx = c.to<T>(s, 2);
  const bool once = tiled(g), positive = c.flags != 0;
  if (!once)
    std::fill_n(dx, c.n[0] * g.height * g.width * g.channels, T{0});
  for_each_greatest(
      c, c.to<const T>(s, 0),
      [&]<class V>(const greatest<V>& found, int64_t first, int64_t pooled, int64_t rows, int64_t columns)
          __attribute__((always_inline)) {
            V d;
            read(d, dy + pooled);
            if (positive)
              d = found.most > V{} ? d : V{};
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t q = 0; q < columns; ++q) {
                T* const to = dx + first + (r * g.width + q) * g.channels;
                V share = found.is(r * columns + q) ? d : V{};
                if (!once) {
                  V before;
                  read(before, to);
                  share = before + share;
                }
                std::memcpy(to, &share, sizeof share);
              }
          });
}

constexpr int64_t pixels_in_chain = 512;

/// The mean of a window of many pixels, added up in float64.
template <class T>
void average_large(const T* x, T* y, const image_windows& g, int64_t rows, int64_t columns) {
  constexpr int64_t channels_max = 16;
  for (int64_t i = 0; i < g.channels; i += channels_max) {
    const int64_t channels = std::min(channels_max, g.channels - i);
    double sums[channels_max] = {};
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t q = 0; q < columns; ++q)
        for (int64_t j = 0; j < channels; ++j)
          sums[j] += static_cast<double>(x[(r * g.width + q) * g.channels + i + j]);
    for (int64_t j = 0; j < channels; ++j)
      y[i + j] = static_cast<T>(sums[j] / static_cast<double>(rows * columns));
  }
}

template <class T>
void average_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y0 = c.to<T>(s, 1);
  const int64_t channels = c.convolution->windows.channels, width = c.convolution->windows.width;
  for_each_window(c, [&](int64_t pooled, int64_t pixel, int64_t rows, int64_t columns) {
    T* y = y0 + pooled;
    if (rows * columns > pixels_in_chain)
      return average_large(x + pixel * channels, y, c.convolution->windows, rows, columns);
    std::fill_n(y, channels, T{0});
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t q = 0; q < columns; ++q) {
        const T* v = x + (pixel + r * width + q) * channels;
#pragma GCC ivdep
        for (int64_t i = 0; i < channels; ++i)
          y[i] += v[i];
      }
    const T count = static_cast<T>(rows * columns);
    for (int64_t i = 0; i < channels; ++i)
      y[i] /= count;
  });
}

template <class T>
void average_gradient_kernel(const kernel_call& c, run_state& s) {
  const T* dy0 = c.to<const T>(s, 0);
  T* dx = c.to<T>(s, 1);
  const int64_t channels = c.convolution->windows.channels, width = c.convolution->windows.width;
  std::fill_n(dx, c.n[0] * c.convolution->windows.height * width * channels, T{0});
  for_each_window(c, [&](int64_t pooled, int64_t pixel, int64_t rows, int64_t columns) {
    const T* dy = dy0 + pooled;
    const T count = static_cast<T>(rows * columns);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t q = 0; q < columns; ++q) {
        T* to = dx + (pixel + r * width + q) * channels;
#pragma GCC ivdep
        for (int64_t i = 0; i < channels; ++i)
          to[i] += dy[i] / count;
      }
  });
}

void lower_windows(lowering& l, const shape& image, const shape& pooled) {
  const auto axis = [](const windows::axis& a) { return image_windows::axis{a.size, a.stride, 1, a.pad, 1}; };
  const windows& w = l.call.attr.window;
  auto& kept = l.new_convolution();
  kept.windows = {image[1], image[2], image[3], image[3], pooled[1], pooled[2], axis(w.y), axis(w.x)};
  l.kernel.convolution = &kept;
  l.kernel.n[0] = image[0];
  const int operands = static_cast<int>(l.call.in.size());
  for (int i = 0; i < operands; ++i)
    l.kernel.at[i] = l.in_at(i);
  l.kernel.at[operands] = l.out_at();
  l.division = {.items = image[0]};
  for (int i = 0; i < operands; ++i)
    l.division.step[static_cast<size_t>(i)] = l.in(i).dims.inner().elements() * size_of(l.in(i).type);
  l.division.step[static_cast<size_t>(operands)] = l.out().dims.inner().elements() * size_of(l.out().type);
}

void lower_max(lowering& l) {
  lower_windows(l, l.in(0).dims, l.out().dims);
  l.run(l.out().type, max_kernel<float>, max_kernel<double>);
}
void lower_pick(lowering& l) {
  lower_windows(l, l.in(0).dims, l.out().dims);
  l.run(l.out().type, pick_kernel<float>, pick_kernel<double>);
}
void lower_max_gradient(lowering& l) {
  lower_windows(l, l.out().dims, l.in(1).dims);
  l.kernel.flags = l.call.relu ? 1 : 0;
  l.run(l.out().type, max_gradient_kernel<float>, max_gradient_kernel<double>);
}
void lower_average(lowering& l) {
  lower_windows(l, l.in(0).dims, l.out().dims);
  l.run(l.out().type, average_kernel<float>, average_kernel<double>);
}
void lower_average_gradient(lowering& l) {
  lower_windows(l, l.out().dims, l.in(0).dims);
  l.run(l.out().type, average_gradient_kernel<float>, average_gradient_kernel<double>);
}

symbol windowed(const operation& op, std::initializer_list<symbol> inputs, symbol_shape dims, const windows& w,
                std::source_location at) {
  for (symbol x : inputs)
    if (!x.valid())
      return x;
  attributes attr;
  attr.window = w;
  const symbol first = *inputs.begin();
  return append(*first.owner(), op, inputs, first.type(), std::move(dims), at, std::move(attr));
}

symbol average(symbol x, symbol_shape dims, const windows& w, std::source_location at) {
  return windowed(ops::average_pool, {x}, std::move(dims), w, at);
}

symbol pool(const operation& op, symbol x, const pool_options& o, std::source_location at) {
  graph* g = common_graph(op.name, {x}, at);
  if (!g)
    return x;
  if (!is_image(x))
    return refuse(*g, op.name, "needs floating [batch, height, width, channels] with known extents, not " + describe(x),
                  at);
  windows w{{o.size[0], o.strides[0], 1, 0}, {o.size[1], o.strides[1], 1, 0}, 1};
  const auto count = place_windows(op.name, w, x, o.padding, at);
  return count ? windowed(op, {x}, {x.dims()[0], extent{(*count)[0]}, extent{(*count)[1]}, x.dims()[3]}, w, at)
               : symbol_of(*g, -1);
}

}  // namespace

namespace ops {
const operation max_pool{
    .name = "max_pool",
    .gradient = [](in i) { return list{troupe::max_pool_gradient(i.x[0], i.dy, i.n.attr.window, i.at)}; },
    .lower = lower_max};
const operation max_pool_pick{
    .name = "max_pool_pick",
    .gradient =
        [](in i) {
          return list{symbol{}, troupe::max_pool_gradient(i.x[0], i.dy, i.n.attr.window, i.at)};
        },
    .lower = lower_pick};
const operation max_pool_gradient{
    .name = "max_pool_gradient",
    .gradient =
        [](in i) {
          return list{symbol{},
                      troupe::max_pool_pick(i.x[0], i.dy, symbol_shape{i.x[1].dims()}, i.n.attr.window, i.at)};
        },
    .lower = lower_max_gradient};
const operation average_pool{
    .name = "average_pool",
    .gradient =
        [](in i) {
          return list{troupe::average_pool_gradient(i.dy, symbol_shape{i.x[0].dims()}, i.n.attr.window, i.at)};
        },
    .lower = lower_average};
const operation average_pool_gradient{
    .name = "average_pool_gradient",
    .gradient = [](in i) { return list{average(i.dy, symbol_shape{i.x[0].dims()}, i.n.attr.window, i.at)}; },
    .lower = lower_average_gradient};
}  // namespace ops

symbol max_pool_pick(symbol x, symbol from, symbol_shape pooled, const windows& w, std::source_location at) {
  return windowed(ops::max_pool_pick, {x, from}, std::move(pooled), w, at);
}

symbol max_pool_gradient(symbol x, symbol dy, const windows& w, std::source_location at) {
  return windowed(ops::max_pool_gradient, {x, dy}, symbol_shape{x.dims()}, w, at);
}

symbol average_pool_gradient(symbol dy, symbol_shape image, const windows& w, std::source_location at) {
  return windowed(ops::average_pool_gradient, {dy}, std::move(image), w, at);
}

symbol max_pool(symbol x, pool_options options, std::source_location at) { return pool(ops::max_pool, x, options, at); }
symbol average_pool(symbol x, pool_options options, std::source_location at) {
  return pool(ops::average_pool, x, options, at);
}
symbol global_max_pool(symbol x, std::source_location at) { return reduce_max(x, {{1, 2}}, at); }
symbol global_average_pool(symbol x, std::source_location at) { return reduce_mean(x, {{1, 2}}, at); }

}  // namespace troupe
