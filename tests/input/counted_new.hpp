// Counts the allocations of this program.
#pragma once

#include <cstdint>

namespace troupe {

int64_t allocations();

}  // namespace troupe
