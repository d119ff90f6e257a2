// Buffers that begin as zeros: arenas, gradients, sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace troupe {

/// Like `allocate_buffer`, but filled with zeros. All of its memory is allocated on return, so that a lack of memory is
/// reported here and does not kill the process later.
std::shared_ptr<std::byte> allocate_zeroed_buffer(int64_t bytes);

}  // namespace troupe
