// The headers that sources of compute/ include most, precompiled: standard headers, the public headers of a graph, and
// Eigen through simd.hpp, which configures it. Sources still include what they use.
#ifndef TROUPE_COMPUTE_PCH_HPP  // No #pragma once: this header is compiled as a main file.
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
