// Convolutions of images [images, height, width, channels] as sums of matrix products, without a matrix of patches (no
// im2col).
//
// As in a matrix product, every element of a result is one chain of fused multiply-adds in a fixed order, so its bits
// depend neither on neighbouring images nor on the width of vectors. Kernel elements that fall outside the image are
// skipped; in the kernel gradient with few channels they meet a zero instead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// Windows over images. Kernel element (ky, kx) of window (y, x) meets the pixel at (y·stride + ky·dilation - pad) /
/// between, and likewise in x, if that is a whole number inside the image.
struct image_windows {
  int64_t height = 0, width = 0;  ///< Extents of an image, whose pixels are `pixel` elements apart.
  int64_t channels = 0, pixel = 0;
  int64_t rows = 0, columns = 0;  ///< Windows in an image.
  struct axis {
    int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, between = 1;
  } y, x;
};

/// One convolution. It computes `outputs` of the `outputs_pixel` result elements of each window; the kernel's rows are
/// `kernel_row` elements apart.
struct convolution {
  image_windows windows;
  int64_t images = 0, outputs = 0, outputs_pixel = 0, kernel_row = 0;
  /// Gradient for the image: the kernel is the forward one, stored as [.., outputs, channels], in reverse order.
  bool turned = false;
  bool relu = false;  ///< Negative results become 0.
};

/// Bytes of workspace; they depend on the shape only.
template <class T>
int64_t convolve_workspace(const convolution& g);
template <class T>
int64_t kernel_gradient_workspace(const convolution& g);

/// y[window, o] = bias[o] (null: 0) + Σ over ky, kx and then channels: x · kernel[ky, kx, channel, o].
template <class T>
void convolve(const convolution& g, const T* x, const T* kernel, const T* bias, T* y, std::byte* workspace);
/// dk[ky, kx, channel, o] = Σ over images and windows: x · dy[window, o]. Ignores `relu`, `turned` and `between`.
template <class T>
void convolve_kernel_gradient(const convolution& g, const T* x, const T* dy, T* dk, std::byte* workspace);

/// Depthwise convolution, all groups at once. `g` describes the first of `channels` groups; a group is one channel of
/// x, or of y if `turned`.
template <class T>
void convolve_depthwise(const convolution& g, int64_t channels, const T* x, const T* kernel, T* y);
template <class T>
void depthwise_kernel_gradient(const convolution& g, int64_t channels, const T* x, const T* dy, T* dk);

// -- CPU levels that it is compiled for ----------------------------------------------------

/// How much of a kernel is packed at a time: rows of the kernel, and panels of 128 bytes of outputs.
struct kernel_block {
  int64_t rows, panels;
};
kernel_block kernel_block_of(const convolution& g, int64_t size) noexcept;

/// What the kernel gradient processes at a time: the windows of `images` images, or of `rows` rows of one image. With
/// few channels, images are copied with their padding first; `padded_rows` and `padded_columns` are the extents of the
/// copy.
struct window_block {
  int64_t images, rows;
  bool padded;
  int64_t padded_rows, padded_columns;
  int64_t padded_at, end;  ///< Byte offsets in the workspace.
};
window_block window_block_of(const convolution& g, int64_t size) noexcept;

#define TROUPE_CONVOLUTION_LEVEL(level)                                                                                \
  namespace level {                                                                                                    \
  void run(const convolution& g, const float* x, const float* kernel, const float* bias, float* y,                     \
           std::byte* workspace);                                                                                      \
  void run(const convolution& g, const double* x, const double* kernel, const double* bias, double* y,                 \
           std::byte* workspace);                                                                                      \
  void run_kernel_gradient(const convolution& g, const float* x, const float* dy, float* dk, std::byte* workspace);    \
  void run_kernel_gradient(const convolution& g, const double* x, const double* dy, double* dk, std::byte* workspace); \
  }
TROUPE_CONVOLUTION_LEVEL(gemm_base)
TROUPE_CONVOLUTION_LEVEL(gemm_avx512)
#undef TROUPE_CONVOLUTION_LEVEL

}  // namespace troupe
