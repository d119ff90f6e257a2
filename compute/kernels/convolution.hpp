// Convolutions of images [images, height, width, channels]: the products of which they consist, without a matrix of patches.
//
// As in a product of matrices, every element of a result is one chain of fused multiply-adds in a fixed order, so its bits do
// not depend on the images beside it or on the width of vectors. What a kernel reaches outside of the image takes no part (or,
// in the gradient of a kernel of few channels, is a zero).
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// Windows over images: window (y, x) has, for each (ky, kx) of the kernel, the pixel at (y·stride + ky·dilation - pad, ...) / between,
/// if that is inside and a whole number.
struct image_windows {
  int64_t height = 0, width = 0;         ///< Of an image, whose pixels lie `pixel` elements apart.
  int64_t channels = 0, pixel = 0;
  int64_t rows = 0, columns = 0;         ///< Windows of an image.
  struct axis {
    int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, between = 1;
  } y, x;
};

/// `outputs` of the `outputs_pixel` elements of each window of the result; the kernel's rows are `kernel_row` elements apart.
struct convolution {
  image_windows windows;
  int64_t images = 0, outputs = 0, outputs_pixel = 0, kernel_row = 0;
  bool turned = false;  ///< The kernel is stored as that of the convolution whose gradient for its image this is: [.., outputs, channels], backwards.
  bool relu = false;    ///< What is negative in the result becomes 0.
};

/// Bytes of workspace: functions of the shape alone.
template <class T>
int64_t convolve_workspace(const convolution& g);
template <class T>
int64_t kernel_gradient_workspace(const convolution& g);

/// y[window, o] = bias[o] (null: 0) + Σ over ky, kx and then channels: x · kernel[ky, kx, channel, o].
template <class T>
void convolve(const convolution& g, const T* x, const T* kernel, const T* bias, T* y, std::byte* workspace);
/// dk[ky, kx, channel, o] = Σ over images and windows: x · dy[window, o]. `relu`, `turned` and `between` have no meaning here.
template <class T>
void convolve_kernel_gradient(const convolution& g, const T* x, const T* dy, T* dk, std::byte* workspace);

/// Depthwise: g is the first of `channels` groups of one channel of x (of y, where it is turned), all of which are computed at once.
template <class T>
void convolve_depthwise(const convolution& g, int64_t channels, const T* x, const T* kernel, T* y);
template <class T>
void depthwise_kernel_gradient(const convolution& g, int64_t channels, const T* x, const T* dy, T* dk);

// -- the levels of processors that it is compiled for -------------------------------------

/// The rows of a kernel, and the panels of 128 bytes of its outputs, that are packed at a time.
struct kernel_block {
  int64_t rows, panels;
};
kernel_block kernel_block_of(const convolution& g, int64_t size) noexcept;

/// The images, or rows of one image, whose windows the gradient of a kernel goes through at a time, and, where channels are few,
/// the rows and columns of an image with its padding.
struct window_block {
  int64_t images, rows;
  bool padded;
  int64_t padded_rows, padded_columns;
  int64_t padded_at, end;  ///< Bytes of the workspace.
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
