// Convolutions of images [images, height, width, channels] as sums of matrix products, without a matrix of patches.
//
// As in a matrix product, every element of a result is one chain of fused multiply-adds in a fixed order, so its bits
// depend neither on neighbouring images nor on the width of vectors. Kernel elements outside the image are skipped (or,
// in the gradient of a kernel of few channels, meet a zero).
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// Windows over images: window (y, x) has, for each (ky, kx) of the kernel, the pixel at (y·stride + ky·dilation - pad,
/// ...) / between, if that is a whole number inside the image.
struct image_windows {
  int64_t height = 0, width = 0;         ///< Extents of an image, whose pixels are `pixel` elements apart.
  int64_t channels = 0, pixel = 0;
  int64_t rows = 0, columns = 0;         ///< Windows in an image.
  struct axis {
    int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, between = 1;
  } y, x;
};

/// Computes `outputs` of the `outputs_pixel` elements of each window of the result; the kernel's rows are `kernel_row`
/// elements apart.
struct convolution {
  image_windows windows;
  int64_t images = 0, outputs = 0, outputs_pixel = 0, kernel_row = 0;
  bool turned = false;  ///< This is a gradient for the image; its kernel is the forward one, stored as
                        ///<   [.., outputs, channels], reversed.
  bool relu = false;    ///< Negative results become 0.
};

/// Bytes of workspace: functions of the shape alone.
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

/// Depthwise: g describes the first of `channels` groups of one channel of x (of y if `turned`); all groups are
/// computed at once.
template <class T>
void convolve_depthwise(const convolution& g, int64_t channels, const T* x, const T* kernel, T* y);
template <class T>
void depthwise_kernel_gradient(const convolution& g, int64_t channels, const T* x, const T* dy, T* dk);

// -- CPU levels that it is compiled for ----------------------------------------------------

/// The rows of a kernel, and the panels of 128 bytes of its outputs, that are packed together.
struct kernel_block {
  int64_t rows, panels;
};
kernel_block kernel_block_of(const convolution& g, int64_t size) noexcept;

/// The images, or rows of one image, whose windows the gradient of a kernel processes at a time, and, where channels
/// are few, the rows and columns of an image with its padding.
struct window_block {
  int64_t images, rows;
  bool padded;
  int64_t padded_rows, padded_columns;
  int64_t padded_at, end;  ///< Byte offsets in the workspace.
};
window_block window_block_of(const convolution& g, int64_t size) noexcept;

#define TROUPE_CONVOLUTION_LEVEL(level)                                                                                                  \
  namespace level {                                                                                                                      \
  void run(const convolution& g, const float* x, const float* kernel, const float* bias, float* y, std::byte* workspace);                 \
  void run(const convolution& g, const double* x, const double* kernel, const double* bias, double* y, std::byte* workspace);             \
  void run_kernel_gradient(const convolution& g, const float* x, const float* dy, float* dk, std::byte* workspace);                       \
  void run_kernel_gradient(const convolution& g, const double* x, const double* dy, double* dk, std::byte* workspace);                    \
  }
TROUPE_CONVOLUTION_LEVEL(gemm_base)
TROUPE_CONVOLUTION_LEVEL(gemm_avx512)
#undef TROUPE_CONVOLUTION_LEVEL

}  // namespace troupe
