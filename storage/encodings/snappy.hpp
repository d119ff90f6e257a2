// Snappy's block format, decompression only: TensorFlow's tables may be compressed with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// The decompressed bytes; absent if `bytes` are no whole Snappy block. Memory is bounded by the input: no block of n bytes can
/// yield more than 32 n, and a length beyond that is refused before anything is allocated.
std::optional<std::string> snappy_decompressed(std::string_view bytes);

}  // namespace troupe
