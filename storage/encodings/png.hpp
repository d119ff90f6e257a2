// PNG images as tensors: uint8 [height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGBA) channels.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// The most bytes of pixels that are written or read.
inline constexpr int64_t png_bytes_max = int64_t{1} << 28;

/// invalid_argument naming dtype and shape, or an image without a pixel or of more than `png_bytes_max`; resource_exhausted.
expected<std::string> encode_png(const tensor& image);

/// Begins like one.
bool is_png(std::string_view bytes) noexcept;
/// Of palettes and 16-bit images the nearest of the three above is made; grey with opacity becomes RGBA. Sizes beyond
/// `png_bytes_max`, or that so few bytes cannot hold, are refused before allocating. data_loss, resource_exhausted.
expected<tensor> decode_png(std::string_view bytes);

}  // namespace troupe
