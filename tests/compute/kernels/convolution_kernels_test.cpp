// The convolution kernels at each level of vector instructions.
#include "compute/kernels/convolution.hpp"
#include "compute/kernels/gemm.hpp"
#include "compute/kernels/vectors.hpp"
#include "tests/compute/model_fixture.hpp"

#include <cmath>

namespace troupe {

using namespace test;

namespace {

struct layer {
  int64_t images, height, width, channels;
  int64_t rows, columns, outputs;  ///< The extents of the kernel.
  int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, groups = 1;
  bool padded = true;
};

image_windows::axis placed(int64_t extent, int64_t kernel, int64_t stride, int64_t dilation, bool padded,
                           int64_t& windows) {
  const int64_t reach = (kernel - 1) * dilation + 1;
  windows = padded ? (extent + stride - 1) / stride : (extent - reach) / stride + 1;
  return {kernel, stride, dilation, padded ? std::max<int64_t>(0, (windows - 1) * stride + reach - extent) / 2 : 0, 1};
}

convolution forward(const layer& q) {
  image_windows w{q.height, q.width, q.channels / q.groups, q.channels};
  w.y = placed(q.height, q.rows, q.stride_y, q.dilation_y, q.padded, w.rows);
  w.x = placed(q.width, q.columns, q.stride_x, q.dilation_x, q.padded, w.columns);
  return {w, q.images, q.outputs / q.groups, q.outputs, q.outputs, false};
}

convolution backward(const layer& q) {
  const convolution f = forward(q);
  const auto back = [](const image_windows::axis& a) {
    return image_windows::axis{a.kernel, 1, a.dilation, (a.kernel - 1) * a.dilation - a.pad, a.stride};
  };
  return {{f.windows.rows, f.windows.columns, f.outputs, q.outputs, q.height, q.width, back(f.windows.y),
           back(f.windows.x)},
          q.images,
          q.channels / q.groups,
          q.channels,
          q.outputs,
          true};
}

template <class T>
std::vector<T> numbers_of(int64_t n, uint64_t seed) {
  const tensor t = noise<T>({n}, seed);
  return {t.as<T>().begin(), t.as<T>().end()};
}

/// The result of `f`. Workspace and result are first filled with other bytes; the bytes behind the workspace must not
/// change.
template <class T, class F>
std::vector<T> written(size_t n, int64_t workspace_bytes, F f) {
  std::vector<T> y(n, T{77});
  std::vector<std::byte> workspace(static_cast<size_t>(workspace_bytes) + 64, std::byte{0x7f});
  f(y.data(), workspace.data());
  for (size_t i = workspace.size() - 64; i < workspace.size(); ++i)
    REQUIRE(workspace[i] == std::byte{0x7f});
  return y;
}

/// Calls f(x, kernel, y) with the offsets of the three elements of each multiplication, in the order that the header
/// gives, with windows in the outer loops.
template <class F>
void for_each_product(const layer& q, F f) {
  const auto& w = forward(q).windows;
  const int64_t per = q.outputs / q.groups;
  for (int64_t i = 0; i < q.images; ++i)
    for (int64_t r = 0; r < w.rows; ++r)
      for (int64_t s = 0; s < w.columns; ++s)
        for (int64_t ky = 0; ky < q.rows; ++ky)
          for (int64_t kx = 0; kx < q.columns; ++kx) {
            const int64_t y = r * q.stride_y + ky * q.dilation_y - w.y.pad,
                          x = s * q.stride_x + kx * q.dilation_x - w.x.pad;
            if (y < 0 || y >= q.height || x < 0 || x >= q.width)
              continue;
            for (int64_t c = 0; c < w.channels; ++c)
              for (int64_t o = 0; o < q.outputs; ++o)
                f(static_cast<size_t>(((i * q.height + y) * q.width + x) * q.channels + o / per * w.channels + c),
                  static_cast<size_t>(((ky * q.columns + kx) * w.channels + c) * q.outputs + o),
                  static_cast<size_t>(((i * w.rows + r) * w.columns + s) * q.outputs + o));
          }
}

template <class T>
void check_equal(const std::vector<T>& got, const std::vector<T>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i)
#ifdef __FMA__
    REQUIRE(got[i] == want[i]);
#else
    REQUIRE(static_cast<double>(got[i])
            == doctest::Approx(static_cast<double>(want[i])).scale(1).epsilon(sizeof(T) == 4 ? 2e-5 : 1e-12));
#endif
}

template <class T>
void check_layer(const layer& q) {
  const convolution f = forward(q), b = backward(q);
  const int64_t channels = q.channels / q.groups, outputs = q.outputs / q.groups;
  const auto x = numbers_of<T>(q.images * q.height * q.width * q.channels, 1),
             k = numbers_of<T>(q.rows * q.columns * channels * q.outputs, 2);
  const auto dy = numbers_of<T>(q.images * f.windows.rows * f.windows.columns * q.outputs, 3);
  std::vector<T> y(dy.size()), dk(k.size());
  for_each_product(q, [&](size_t xi, size_t ki, size_t yi) {
    y[yi] = std::fma(x[xi], k[ki], y[yi]);
    dk[ki] = std::fma(x[xi], dy[yi], dk[ki]);
  });
  auto ends = f;
  ends.relu = true;
  const auto bias = numbers_of<T>(q.outputs, 4);
  std::vector<T> rows(dy.size());
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = bias[i % bias.size()];
  for_each_product(q, [&](size_t xi, size_t ki, size_t yi) { rows[yi] = std::fma(x[xi], k[ki], rows[yi]); });
  for (T& v : rows)
    v = std::max(v, T{0});
  // The gradient of the image sums in this order: windows, then outputs.
  std::vector<T> dx(x.size());
  for_each_product(q, [&](size_t xi, size_t ki, size_t yi) { dx[xi] = std::fma(dy[yi], k[ki], dx[xi]); });
  const auto at_level = [&](auto run, auto run_kernel_gradient) {
    check_equal(written<T>(y.size(), convolve_workspace<T>(f),
                           [&](T* to, std::byte* workspace) {
                             for (int64_t g = 0; g < q.groups; ++g)
                               run(f, x.data() + g * channels, k.data() + g * outputs, nullptr, to + g * outputs,
                                   workspace);
                           }),
                y);
    check_equal(written<T>(y.size(), convolve_workspace<T>(f),
                           [&](T* to, std::byte* workspace) {
                             for (int64_t g = 0; g < q.groups; ++g)
                               run(ends, x.data() + g * channels, k.data() + g * outputs, bias.data() + g * outputs,
                                   to + g * outputs, workspace);
                           }),
                rows);
    check_equal(written<T>(x.size(), convolve_workspace<T>(b),
                           [&](T* to, std::byte* workspace) {
                             for (int64_t g = 0; g < q.groups; ++g)
                               run(b, dy.data() + g * outputs, k.data() + g * outputs, nullptr, to + g * channels,
                                   workspace);
                           }),
                dx);
    check_equal(written<T>(k.size(), kernel_gradient_workspace<T>(f),
                           [&](T* to, std::byte* workspace) {
                             for (int64_t g = 0; g < q.groups; ++g)
                               run_kernel_gradient(f, x.data() + g * channels, dy.data() + g * outputs,
                                                   to + g * outputs, workspace);
                           }),
                dk);
  };
  at_level([](const convolution& g, const T* a, const T* c, const T* d, T* to,
              std::byte* w) { gemm_base::run(g, a, c, d, to, w); },
           [](const convolution& g, const T* a, const T* c, T* to, std::byte* w) {
             gemm_base::run_kernel_gradient(g, a, c, to, w);
           });
#if defined(__AVX2__) && defined(__x86_64__)
  if (widest_vectors() == vector_level::avx512)
    at_level([](const convolution& g, const T* a, const T* c, const T* d, T* to,
                std::byte* w) { gemm_avx512::run(g, a, c, d, to, w); },
             [](const convolution& g, const T* a, const T* c, T* to, std::byte* w) {
               gemm_avx512::run_kernel_gradient(g, a, c, to, w);
             });
#endif
}

}  // namespace

TEST_CASE(
    "convolutions and their gradients are one chain of multiply-adds an element at every level, with bias and relu, "
    "and stay within their workspace") {
  for (const layer& q : std::vector<layer>{
           {2, 5, 6, 3, 3, 3, 4},
           {1, 7, 7, 1, 5, 5, 20, 1, 1, 1, 1, 1, false},
           {2, 8, 5, 4, 3, 2, 3, 2, 3},
           {2, 9, 9, 2, 3, 3, 5, 2, 2, 1, 1, 1, false},
           {1, 9, 8, 2, 3, 3, 2, 1, 1, 2, 3},
           {1, 9, 9, 3, 2, 3, 2, 2, 1, 3, 2, 1, false},
           {2, 4, 4, 6, 3, 3, 9, 1, 1, 1, 1, 3},
           {1, 2, 2, 2, 5, 5, 3},
           {0, 4, 4, 2, 3, 3, 2},
           // Windows at the corners of many images; two panels, the last one partial.
           {14, 14, 14, 8, 5, 5, 70},
           {13, 6, 6, 9, 3, 3, 33, 2, 2},
           // Images larger than a block of windows, one channel.
           {2, 40, 33, 1, 5, 5, 32},
           {1, 30, 30, 3, 7, 7, 16, 2, 2},
           {4, 5, 5, 16, 4, 4, 24, 3, 2, 1, 2, 4},
           {2, 3, 3, 4, 1, 1, 8, 2, 2},  // Strides that skip some pixels.
           {1, 4, 4, 700, 3, 3, 70},     // More than one block of kernel rows.
           {1, 1, 3, 700, 3, 3, 40},     // The last block meets no pixel.
           {26, 3, 3, 5, 3, 3, 6},
           {2, 9, 9, 7, 3, 3, 5, 2, 2, 4, 4},
       }) {
    CAPTURE(q.images);
    CAPTURE(q.height);
    CAPTURE(q.channels);
    CAPTURE(q.outputs);
    check_layer<float>(q);
    check_layer<double>(q);
  }
}

TEST_CASE("a depthwise convolution and its gradients are those of groups of one channel") {
  for (const layer& q : std::vector<layer>{
           {2, 5, 6, 3, 3, 3, 3, 1, 1, 1, 1, 3},
           {1, 9, 8, 37, 3, 2, 37, 2, 1, 1, 2, 37},
           {2, 7, 7, 16, 5, 5, 16, 2, 2, 1, 1, 16, false},
           {2, 4, 5, 3, 3, 3, 6, 1, 1, 1, 1, 3},
           {1, 6, 9, 4, 2, 3, 20, 3, 2, 2, 1, 4},
           {2, 3, 3, 4, 1, 1, 4, 2, 2, 1, 1, 4},
           {0, 4, 4, 2, 3, 3, 2, 1, 1, 1, 1, 2},
       }) {
    CAPTURE(q.height);
    CAPTURE(q.channels);
    CAPTURE(q.outputs);
    const convolution f = forward(q), b = backward(q);
    const auto x = numbers_of<double>(q.images * q.height * q.width * q.channels, 1),
               k = numbers_of<double>(q.rows * q.columns * q.outputs, 2);
    const auto dy = numbers_of<double>(q.images * f.windows.rows * f.windows.columns * q.outputs, 3);
    std::vector<double> y(dy.size()), dx(x.size()), dk(k.size());
    for_each_product(q, [&](size_t xi, size_t ki, size_t yi) {
      y[yi] += x[xi] * k[ki];
      dx[xi] += dy[yi] * k[ki];
      dk[ki] += x[xi] * dy[yi];
    });
    const auto close = [](const std::vector<double>& got, const std::vector<double>& want) {
      for (size_t i = 0; i < want.size(); ++i)
        REQUIRE(got[i] == doctest::Approx(want[i]).scale(1).epsilon(1e-13));
    };
    close(written<double>(y.size(), 0,
                          [&](double* to, std::byte*) { convolve_depthwise(f, q.channels, x.data(), k.data(), to); }),
          y);
    close(written<double>(x.size(), 0,
                          [&](double* to, std::byte*) { convolve_depthwise(b, q.channels, dy.data(), k.data(), to); }),
          dx);
    close(written<double>(
              k.size(), 0,
              [&](double* to, std::byte*) { depthwise_kernel_gradient(f, q.channels, x.data(), dy.data(), to); }),
          dk);
    const std::vector<float> xf(x.begin(), x.end()), kf(k.begin(), k.end());
    const auto yf = written<float>(
        y.size(), 0, [&](float* to, std::byte*) { convolve_depthwise(f, q.channels, xf.data(), kf.data(), to); });
    for (size_t i = 0; i < y.size(); ++i)
      REQUIRE(static_cast<double>(yf[i]) == doctest::Approx(y[i]).scale(1).epsilon(2e-6));
  }
}

}  // namespace troupe
