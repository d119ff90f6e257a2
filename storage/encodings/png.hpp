// PNG images as tensors: uint8 [height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGBA) channels.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// Limit on the bytes of pixels written or read.
inline constexpr int64_t png_bytes_max = int64_t{1} << 28;

/// invalid_argument naming dtype and shape, or an image without a pixel or of more than `png_bytes_max`; resource_exhausted.
expected<std::string> encode_png(const tensor& image);

/// Whether it begins like a PNG file.
bool is_png(std::string_view bytes) noexcept;
/// Palette and 16-bit images are converted to the nearest of the three kinds above; grey with opacity becomes RGBA.
/// Sizes beyond `png_bytes_max`, or too large for the number of bytes, are refused before allocating. data_loss,
/// resource_exhausted.
expected<tensor> decode_png(std::string_view bytes);

}  // namespace troupe
