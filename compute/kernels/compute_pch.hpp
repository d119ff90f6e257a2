// What sources of compute/ include most, precompiled once: standard headers, the public headers of a graph, and Eigen by way of simd.hpp, which
// says how it is configured. Sources still include what they use.
#ifndef TROUPE_COMPUTE_PCH_HPP  // Not #pragma once: it is the main file of its own compilation.
#define TROUPE_COMPUTE_PCH_HPP

#include "compute/kernels/simd.hpp"

#include <troupe/operations.hpp>
#include <troupe/optimizer.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#endif
