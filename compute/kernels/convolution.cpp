#include "compute/kernels/convolution.hpp"

#include "compute/kernels/gemm.hpp"
#include "compute/kernels/vectors.hpp"

#include <algorithm>

namespace troupe {
namespace {

constexpr int64_t panel_bytes = 128;
constexpr int64_t block_bytes = 512 * 1024;  // Bytes of a packed kernel: it fits the second-level cache.
constexpr int64_t block_windows = 256;       // Windows of packed gradients: a panel fits the first.

int64_t whole_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }
int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }
int64_t panels_of(const convolution& g, int64_t size) { return parts(g.outputs * size, panel_bytes); }

}  // namespace

kernel_block kernel_block_of(const convolution& g, int64_t size) noexcept {
  const auto& w = g.windows;
  const int64_t row = w.x.kernel * w.channels * panel_bytes, all = panels_of(g, size);
  const int64_t panels = std::clamp<int64_t>(block_bytes / row, std::min<int64_t>(2, all), all);
  return {std::clamp<int64_t>(block_bytes / (row * panels), 1, w.y.kernel), panels};
}

window_block window_block_of(const convolution& g, int64_t size) noexcept {
  const auto& w = g.windows;
  window_block b{};
  b.images = std::clamp<int64_t>(block_windows / std::max<int64_t>(1, w.rows * w.columns), 1,
                                 std::max<int64_t>(1, g.images));
  const int64_t most = std::clamp<int64_t>(block_windows / std::max<int64_t>(1, w.columns), 1,
                                           std::max<int64_t>(1, w.rows));
  b.rows = w.rows * w.columns <= block_windows ? w.rows : parts(w.rows, parts(w.rows, most));
  b.padded = w.channels < 8 && w.channels == w.pixel && w.x.dilation == 1 && w.x.kernel > 1;
  b.padded_at = whole_lines(b.images * b.rows * w.columns * panels_of(g, size) * panel_bytes);
  b.end = b.padded_at;
  if (b.padded) {
    b.padded_rows = (b.rows - 1) * w.y.stride + (w.y.kernel - 1) * w.y.dilation + 1;
    b.padded_columns = (w.columns - 1) * w.x.stride + w.x.kernel;
    b.end += b.images * b.padded_rows * b.padded_columns * w.channels * size;
  }
  return b;
}

template <class T>
int64_t convolve_workspace(const convolution& g) {
  const auto b = kernel_block_of(g, sizeof(T));
  return b.rows * g.windows.x.kernel * g.windows.channels * b.panels * panel_bytes;
}

template <class T>
int64_t kernel_gradient_workspace(const convolution& g) {
  return window_block_of(g, sizeof(T)).end;
}

template <class T>
void convolve(const convolution& g, const T* x, const T* kernel, const T* bias, T* y, std::byte* workspace) {
#if defined(__AVX2__) && defined(__x86_64__)
  if (uses_avx512())
    return gemm_avx512::run(g, x, kernel, bias, y, workspace);
#endif
  gemm_base::run(g, x, kernel, bias, y, workspace);
}

template <class T>
void convolve_kernel_gradient(const convolution& g, const T* x, const T* dy, T* dk, std::byte* workspace) {
#if defined(__AVX2__) && defined(__x86_64__)
  if (uses_avx512())
    return gemm_avx512::run_kernel_gradient(g, x, dy, dk, workspace);
#endif
  gemm_base::run_kernel_gradient(g, x, dy, dk, workspace);
}

template int64_t convolve_workspace<float>(const convolution&);
template int64_t convolve_workspace<double>(const convolution&);
template int64_t kernel_gradient_workspace<float>(const convolution&);
template int64_t kernel_gradient_workspace<double>(const convolution&);
template void convolve<float>(const convolution&, const float*, const float*, const float*, float*, std::byte*);
template void convolve<double>(const convolution&, const double*, const double*, const double*, double*, std::byte*);
template void convolve_kernel_gradient<float>(const convolution&, const float*, const float*, float*, std::byte*);
template void convolve_kernel_gradient<double>(const convolution&, const double*, const double*, double*, std::byte*);

}  // namespace troupe
