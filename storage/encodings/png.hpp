// PNG images as tensors: uint8 [height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGBA) channels.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// Limit on the bytes of the decoded pixels, for reading and writing.
inline constexpr int64_t png_bytes_max = int64_t{1} << 28;

/// Errors: invalid_argument naming dtype and shape, also for an image without pixels or of more than `png_bytes_max`;
/// resource_exhausted.
expected<std::string> encode_png(const tensor& image);

/// Whether `bytes` begin like a PNG file.
bool is_png(std::string_view bytes) noexcept;
/// Palette and 16-bit images are converted to the nearest of the three kinds above; grey with opacity becomes RGBA.
/// Images larger than `png_bytes_max`, or too large for the number of bytes, are rejected before memory is allocated.
/// Errors: data_loss, resource_exhausted.
expected<tensor> decode_png(std::string_view bytes);

}  // namespace troupe
