// Buffers that begin as zeros: arenas, gradients, sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace troupe {

/// As `allocate_buffer`, of zeros. All of its memory is there on return: whoever lacks it is told here and not killed later.
std::shared_ptr<std::byte> allocate_zeroed_buffer(int64_t bytes);

}  // namespace troupe
