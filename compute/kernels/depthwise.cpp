// Depthwise convolutions: channels are independent, so vectors span channels and nothing is packed.
#include "compute/kernels/meeting.hpp"
#include "compute/kernels/simd.hpp"

namespace troupe {
namespace {

/// Calls f(first element, count) for adjacent packets that cover n elements; the last one may be partial.
template <class T, class F>
void for_each_packet(int64_t n, F f) {
  for (int64_t i = 0; i < n; i += simd::width<T>)
    f(i, std::min(simd::width<T>, n - i));
}

template <class T>
simd::packet<T> load(const T* p, int64_t n) {
  return n == simd::width<T> ? simd::load(p) : simd::load_part(p, n);
}
template <class T>
void store(T* p, const simd::packet<T>& x, int64_t n) {
  n == simd::width<T> ? simd::store(p, x) : simd::store_part(p, x, n);
}

/// Calls f(pixel of x, element of the kernel) for each pair that meets in a window, in the order of the kernel.
template <class F>
void for_each_met(const convolution& g, const meeting& y, const meeting& x, F f) {
  const auto& w = g.windows;
  const int64_t taps = w.y.kernel * w.x.kernel;
  for (int64_t i = 0; i < y.count; ++i)
    for (int64_t j = 0; j < x.count; ++j) {
      const int64_t tap = (y.tap + i * y.tap_step) * w.x.kernel + x.tap + j * x.tap_step;
      f((y.source + i * y.source_step) * w.width + x.source + j * x.source_step, g.turned ? taps - 1 - tap : tap);
    }
}

/// Computes all channels of one window, with one output per channel.
template <class T>
void window_of_singles(const convolution& g, int64_t channels, const meeting& my, const meeting& mx, const T* x,
                       const T* kernel, T* y) {
  for_each_packet<T>(channels, [&](int64_t c, int64_t n) {
    auto sum = simd::set(T{0});
    for_each_met(g, my, mx, [&](int64_t pixel, int64_t tap) {
      sum = simd::pmadd(load(x + pixel * g.windows.pixel + c, n), load(kernel + tap * g.kernel_row + c, n), sum);
    });
    store(y + c, sum, n);
  });
}

/// Computes one window with several outputs per channel or, if `turned`, with one output of several channels.
template <class T>
void window_of_several(const convolution& g, int64_t channels, const meeting& my, const meeting& mx, const T* x,
                       const T* kernel, T* y) {
  const auto& w = g.windows;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t o = 0; o < g.outputs; ++o) {
      T sum{0};
      for_each_met(g, my, mx, [&](int64_t pixel, int64_t tap) {
        for (int64_t i = 0; i < w.channels; ++i)
          sum += x[pixel * w.pixel + c * w.channels + i]
                 * kernel[tap * g.kernel_row + c * std::max(w.channels, g.outputs) + std::max(i, o)];
      });
      y[c * g.outputs + o] = sum;
    }
}

}  // namespace

template <class T>
void convolve_depthwise(const convolution& g, int64_t channels, const T* x, const T* kernel, T* y) {
  const auto& w = g.windows;
  for (int64_t i = 0; i < g.images; ++i, x += w.height * w.width * w.pixel)
    for (int64_t row = 0; row < w.rows; ++row) {
      const meeting my = meeting_of(w.y, w.height, row, 0, w.y.kernel);
      for (int64_t column = 0; column < w.columns; ++column, y += g.outputs_pixel) {
        const meeting mx = meeting_of(w.x, w.width, column, 0, w.x.kernel);
        if (w.channels == 1 && g.outputs == 1)
          window_of_singles(g, channels, my, mx, x, kernel, y);
        else
          window_of_several(g, channels, my, mx, x, kernel, y);
      }
    }
}

template <class T>
void depthwise_kernel_gradient(const convolution& g, int64_t channels, const T* x, const T* dy, T* dk) {
  const auto& w = g.windows;
  const int64_t outputs = channels * g.outputs;
  for (int64_t tap = 0; tap < w.y.kernel * w.x.kernel; ++tap)
    std::fill_n(dk + tap * g.kernel_row, outputs, T{0});
  for (int64_t i = 0; i < g.images; ++i, x += w.height * w.width * w.pixel)
    for (int64_t row = 0; row < w.rows; ++row, dy += w.columns * g.outputs_pixel)
      for (int64_t ky = 0; ky < w.y.kernel; ++ky) {
        const int64_t line = row * w.y.stride + ky * w.y.dilation - w.y.pad;
        if (line < 0 || line >= w.height)
          continue;
        for (int64_t kx = 0; kx < w.x.kernel; ++kx) {
          // A window meets the pixel column·stride + offset, if that is in [0, width).
          const int64_t offset = kx * w.x.dilation - w.x.pad;
          const int64_t first = offset >= 0 ? 0 : (-offset + w.x.stride - 1) / w.x.stride;
          const int64_t end = std::min(w.columns,
                                       offset >= w.width ? 0 : (w.width - offset + w.x.stride - 1) / w.x.stride);
          const T* const from = x + (line * w.width + offset) * w.pixel;
          T* const to = dk + (ky * w.x.kernel + kx) * g.kernel_row;
          if (g.outputs == 1)
            for_each_packet<T>(channels, [&](int64_t c, int64_t n) {
              auto sum = load(to + c, n);
              for (int64_t s = first; s < end; ++s)
                sum = simd::pmadd(load(from + s * w.x.stride * w.pixel + c, n), load(dy + s * g.outputs_pixel + c, n),
                                  sum);
              store(to + c, sum, n);
            });
          else
            for (int64_t s = first; s < end; ++s)
              for (int64_t o = 0; o < outputs; ++o)
                to[o] += from[s * w.x.stride * w.pixel + o / g.outputs] * dy[s * g.outputs_pixel + o];
        }
      }
}

template void convolve_depthwise<float>(const convolution&, int64_t, const float*, const float*, float*);
template void convolve_depthwise<double>(const convolution&, int64_t, const double*, const double*, double*);
template void depthwise_kernel_gradient<float>(const convolution&, int64_t, const float*, const float*, float*);
template void depthwise_kernel_gradient<double>(const convolution&, int64_t, const double*, const double*, double*);

}  // namespace troupe
