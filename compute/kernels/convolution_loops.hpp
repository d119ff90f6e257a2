// The loops of convolutions, built on the tiles of the matrix product, written once and compiled for each CPU level.
//
// The rows of a tile are windows that see the same elements of the kernel: neighbours in x or in y or, in the corners,
// windows of several images. So the kernel reads their pixels directly from the images, and never multiplies padding.
#pragma once

#include "compute/kernels/gemm_tile.hpp"
#include "compute/kernels/meeting.hpp"

namespace troupe {
namespace {

/// Windows at `first`, `first` + step, ... that see the same elements of the kernel.
struct strip {
  int64_t first, step, count;
  meeting seen;
};

/// Calls f(strip) for strips that together cover all windows of an axis.
template <class F>
void for_each_strip(const image_windows::axis& a, int64_t extent, int64_t windows, int64_t first_tap, int64_t end_tap,
                    F f) {
  for (int64_t remainder = 0; remainder < least(a.between, windows); ++remainder) {
    strip s{remainder, a.between, 0, {}};
    for (int64_t at = remainder; at < windows; at += a.between) {
      const meeting m = meeting_of(a, extent, at, first_tap, end_tap);
      if (s.count > 0 && (m.tap != s.seen.tap || m.count != s.seen.count)) {
        f(s);
        s.count = 0;
      }
      if (s.count == 0)
        s.first = at, s.seen = m;
      ++s.count;
    }
    f(s);
  }
}

template <class V>
class image_convolution {
  using T = typename V::number;
  static constexpr int64_t wide = 2 * V::width;
  static constexpr int64_t images_at_once = 12;  // The number of corners that fill a tile.

 public:
  image_convolution(const convolution& of, const T* x, const T* kernel, const T* bias, T* y, std::byte* workspace)
    : g(of), w(of.windows), image(x), kernel_(kernel), bias_(bias), out(y), packed(reinterpret_cast<T*>(workspace)),
      at_once(kernel_block_of(of, sizeof(T))) {}

  void run() {
    const int64_t columns = at_once.panels * (128 / static_cast<int64_t>(sizeof(T)));
    for (int64_t j = 0; j < g.outputs; j += columns)
      for (int64_t row = 0; row < w.y.kernel; row += at_once.rows) {
        first_output = j, end_output = least(g.outputs, j + columns);
        first_row = row, end_row = least(w.y.kernel, row + at_once.rows);
        pack_kernel();
        for (int64_t i = 0; i < g.images; i += images_at_once)
          block_of_images(i, least(images_at_once, g.images - i));
      }
  }

 private:
  bool last() const { return end_row == w.y.kernel; }
  int64_t taps() const { return (end_row - first_row) * w.x.kernel; }

  void pack_kernel() {
    for (int64_t j = first_output; j < end_output; j += wide) {
      T* to = packed + (j - first_output) * taps() * w.channels;
      for (int64_t tap = first_row * w.x.kernel; tap < end_row * w.x.kernel; ++tap, to += w.channels * wide) {
        const int64_t columns = least(wide, g.outputs - j);
        if (g.turned)
          pack_panel<V>(true, w.channels, columns,
                        kernel_ + ((w.y.kernel * w.x.kernel - 1 - tap) * g.outputs + j) * g.kernel_row, g.kernel_row,
                        to);
        else
          pack_panel<V>(false, w.channels, columns, kernel_ + tap * w.channels * g.kernel_row + j, g.kernel_row, to);
      }
    }
  }

  void block_of_images(int64_t first, int64_t images) {
    for_each_strip(w.y, w.height, w.rows, first_row, end_row, [&](const strip& y) {
      for_each_strip(w.x, w.width, w.columns, 0, w.x.kernel, [&](const strip& x) {
        if (first_row == 0 || (g.relu && last()) || y.seen.count * x.seen.count > 0)
          region(first, images, y, x);
      });
    });
  }

  /// A direction in which windows follow each other: their number, and their distance in the image (`from`) and in the
  /// result (`to`).
  struct way {
    int64_t count, from, to;
  };

  void region(int64_t first, int64_t images, const strip& y, const strip& x) {
    const int64_t line = w.width * w.pixel, out_line = w.columns * g.outputs_pixel;
    const way across{x.count, w.x.stride * w.pixel, x.step * g.outputs_pixel},
        down{y.count, w.y.stride * line, y.step * out_line};
    const way on{images, w.height * line, w.rows * out_line};
    factors<T> f{};
    f.k = w.channels;
    f.a = image + first * on.from + y.seen.source * line + x.seen.source * w.pixel;
    f.b = packed + ((y.seen.tap - first_row) * w.x.kernel + x.seen.tap) * w.channels * wide;
    f.ldb = wide;
    const int64_t row = w.x.kernel * w.channels * wide;
    // All that a window sees of an image line is contiguous.
    if (x.seen.tap_step == 1 && x.seen.source_step == 1 && w.channels == w.pixel) {
      f.k *= x.seen.count;
      f.x = {x.seen.count > 0 ? 1 : 0, 0, 0};
      f.y = {y.seen.count, y.seen.source_step * line - f.k, y.seen.tap_step * row - f.k * wide};
    } else {
      f.x = {x.seen.count, x.seen.source_step * w.pixel - f.k, (x.seen.tap_step - 1) * f.k * wide};
      f.y = {y.seen.count, y.seen.source_step * line - x.seen.count * x.seen.source_step * w.pixel,
             y.seen.tap_step * row - x.seen.count * x.seen.tap_step * f.k * wide};
    }
    T* const c = out + first * on.to + y.first * out_line + x.first * g.outputs_pixel;
    if (x.count >= V::tile_rows / 2 || (x.count >= y.count && x.count >= images))
      tiles_of(f, c, across, down, on);
    else if (y.count >= V::tile_rows / 2 || y.count >= images)
      tiles_of(f, c, down, across, on);
    else
      tiles_of(f, c, on, across, down);
  }

  void tiles_of(factors<T> f, T* c, const way& rows, const way& inner, const way& outer) {
    const T *const a = f.a, *const b = f.b;
    f.stride = rows.from;
    for (int64_t o = 0; o < outer.count; ++o)
      for (int64_t i = 0; i < inner.count; ++i)
        for (int64_t r = 0, n = 0; r < rows.count; r += n) {
          n = next_rows<V>(rows.count - r);
          f.a = a + o * outer.from + i * inner.from + r * rows.from;
          T* const at = c + o * outer.to + i * inner.to + r * rows.to;
          for (int64_t j = first_output; j < end_output; j += wide) {
            const int64_t columns = least(wide, end_output - j);
            f.b = b + (j - first_output) * taps() * w.channels;
            tiles<V, order::rows>::of(n, columns)(f, {at + j, rows.to, columns, at + j, bias_ ? bias_ + j : nullptr,
                                                      first_row == 0, last(), g.relu, nullptr});
          }
        }
  }

  const convolution& g;
  const image_windows& w;
  const T *const image, *const kernel_, *const bias_;
  T *const out, *const packed;
  const kernel_block at_once;
  int64_t first_output = 0, end_output = 0, first_row = 0, end_row = 0;
};

/// The gradient for the kernel. For each kernel element it is a matrix product: the transposed matrix of the pixels
/// that the element meets, times the windows' gradients, which are packed one block of windows at a time.
template <class V>
class kernel_gradient {
  using T = typename V::number;
  static constexpr int64_t wide = 2 * V::width;

 public:
  kernel_gradient(const convolution& of, const T* x, const T* dy, T* dk, std::byte* workspace)
    : g(of), w(of.windows), image(x), dy_(dy), out(dk), at_once(window_block_of(of, sizeof(T))),
      packed(reinterpret_cast<T*>(workspace)), padded(reinterpret_cast<T*>(workspace + at_once.padded_at)) {}

  void run() {
    first = true;
    for (int64_t i = 0; i < g.images; i += at_once.images)
      for (int64_t y = 0; y < w.rows; y += at_once.rows, first = false)
        block({i, least(at_once.images, g.images - i), y, least(at_once.rows, w.rows - y)});
    if (first)
      block({0, 0, 0, 0});  // No windows: the gradient is zero.
  }

 private:
  struct window_range {
    int64_t image, images, row, rows;
  };

  void block(const window_range& at) {
    const int64_t windows = at.rows * w.columns;
    for (int64_t j = 0; j < g.outputs; j += wide)
      for (int64_t i = 0; i < at.images; ++i)
        pack_panel<V>(false, windows, least(wide, g.outputs - j),
                      dy_ + ((at.image + i) * w.rows + at.row) * w.columns * g.outputs_pixel + j, g.outputs_pixel,
                      packed + (j * at.images + i * wide) * windows);
    if (at_once.padded)
      pad(at);
    for (int64_t ky = 0; ky < w.y.kernel; ++ky)
      if (at_once.padded)
        line_of_kernel(at, ky);
      else
        for (int64_t kx = 0; kx < w.x.kernel; ++kx)
          element_of_kernel(at, ky, kx);
  }

  /// The windows [first, end) of an axis in which a given kernel element meets a pixel.
  struct range {
    int64_t first, end;
  };
  static range windows_of(const image_windows::axis& a, int64_t extent, int64_t tap, int64_t first, int64_t end) {
    // Window y meets the pixel y·stride + offset, if that is in [0, extent).
    const int64_t offset = tap * a.dilation - a.pad;
    const int64_t begin = offset >= 0 ? 0 : (-offset + a.stride - 1) / a.stride,
                  stop = extent - offset > 0 ? (extent - offset + a.stride - 1) / a.stride : 0;
    const int64_t from = begin > first ? begin : first;
    return {from, least(end, stop) > from ? least(end, stop) : from};
  }

  void element_of_kernel(const window_range& at, int64_t ky, int64_t kx) {
    const range y = windows_of(w.y, w.height, ky, at.row, at.row + at.rows),
                x = windows_of(w.x, w.width, kx, 0, w.columns);
    const int64_t rows = y.end - y.first, columns = x.end - x.first, step = w.x.stride * w.pixel,
                  line = w.width * w.pixel;
    const int64_t sy = y.first * w.y.stride + ky * w.y.dilation - w.y.pad,
                  sx = x.first * w.x.stride + kx * w.x.dilation - w.x.pad;
    factors<T> f{columns, image + (at.image * w.height + sy) * line + sx * w.pixel,
                 step,    packed + ((y.first - at.row) * w.columns + x.first) * wide,
                 wide,    {},
                 {}};
    f.x = {rows, w.y.stride * line - columns * step, (w.columns - columns) * wide};
    f.y = {at.images, (w.height - rows * w.y.stride) * line, (at.rows - rows) * w.columns * wide};
    rows_of_kernel(at, f, (ky * w.x.kernel + kx) * w.channels, w.channels);
  }

  /// In an image with its padding, the pixels that one line of the kernel meets are contiguous.
  void line_of_kernel(const window_range& at, int64_t ky) {
    const int64_t step = w.x.stride * w.channels, line = at_once.padded_columns * w.channels;
    factors<T> f{w.columns, padded + ky * w.y.dilation * line, step, packed, wide, {}, {}};
    f.x = {at.rows, w.y.stride * line - w.columns * step, 0};
    f.y = {at.images, (at_once.padded_rows - at.rows * w.y.stride) * line, 0};
    rows_of_kernel(at, f, ky * w.x.kernel * w.channels, w.x.kernel * w.channels);
  }

  void rows_of_kernel(const window_range& at, factors<T> f, int64_t row, int64_t rows) {
    const T *const a = f.a, *const b = f.b;
    for (int64_t j = 0; j < g.outputs; j += wide) {
      const int64_t columns = least(wide, g.outputs - j);
      f.b = b + j * at.images * at.rows * w.columns;
      for (int64_t r = 0, n = 0; r < rows; r += n) {
        n = next_rows<V>(rows - r);
        f.a = a + r;
        T* const c = out + (row + r) * g.kernel_row + j;
        tiles<V, order::columns>::of(n, columns)(f, {c, g.kernel_row, columns, r + n < rows ? c + n * g.kernel_row : c,
                                                     nullptr, first, true, false, nullptr});
      }
    }
  }

  void pad(const window_range& at) {
    const int64_t line = at_once.padded_columns * w.channels,
                  from = least(w.x.pad, at_once.padded_columns) * w.channels;
    const int64_t end = least(line, from + w.width * w.channels);
    T* to = padded;
    for (int64_t i = 0; i < at.images; ++i)
      for (int64_t r = 0; r < at_once.padded_rows; ++r, to += line) {
        const int64_t y = at.row * w.y.stride - w.y.pad + r;
        if (y < 0 || y >= w.height) {
          zeros(to, 0, line);
          continue;
        }
        const T* x = image + ((at.image + i) * w.height + y) * w.width * w.pixel;
        zeros(to, 0, from);
        for (int64_t p = from; p < end; ++p)
          to[p] = x[p - from];
        zeros(to, end, line);
      }
  }

  static void zeros(T* to, int64_t first, int64_t end) {
    for (; first < end; ++first)
      to[first] = T{0};
  }

  const convolution& g;
  const image_windows& w;
  const T *const image, *const dy_;
  T* const out;
  const window_block at_once;
  T *const packed, *const padded;
  bool first = true;
};

}  // namespace
}  // namespace troupe
