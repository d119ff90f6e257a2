// How often this program asked for memory.
#pragma once

#include <cstdint>

namespace troupe {

int64_t allocations();

}  // namespace troupe
