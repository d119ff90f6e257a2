// Snappy's block format, decompression only. TensorFlow's tables may be compressed with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// The decompressed bytes; absent if `bytes` are not one whole Snappy block. A block of n bytes cannot yield more than
/// 32 n; a greater length is rejected before memory is allocated.
std::optional<std::string> snappy_decompressed(std::string_view bytes);

}  // namespace troupe
