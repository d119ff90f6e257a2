// The windows of convolutions and pooling: their requirements on an image, and their number.
#pragma once

#include "compute/graph/graph.hpp"

namespace troupe {

/// [batch, height, width, channels], all known numbers except the batch.
bool is_image(symbol x);
/// Upper limit of a window's size, stride and dilation.
constexpr int64_t window_most = int64_t{1} << 20;
/// The number of windows that fit an axis of that extent, and the padding before the first; nothing when none fits.
std::optional<int64_t> place_windows(windows::axis& axis, int64_t extent, padding p);
/// Both axes of an image; else the reason is kept in the graph.
std::optional<std::array<int64_t, 2>> place_windows(std::string_view operation, windows& w, symbol x, padding p, std::source_location at);

}  // namespace troupe
