// Where the windows of convolutions and pooling lie: what they ask of an image, and how many there are.
#pragma once

#include "compute/graph/graph.hpp"

namespace troupe {

/// [batch, height, width, channels] with known numbers but for the batch.
bool is_image(symbol x);
/// The most of a window's size, stride and dilation.
constexpr int64_t window_most = int64_t{1} << 20;
/// How many windows fit an axis of that extent, and the padding before the first; nothing when none fits.
std::optional<int64_t> place_windows(windows::axis& axis, int64_t extent, padding p);
/// Both axes of an image; else the reason is kept in the graph.
std::optional<std::array<int64_t, 2>> place_windows(std::string_view operation, windows& w, symbol x, padding p, std::source_location at);

}  // namespace troupe
