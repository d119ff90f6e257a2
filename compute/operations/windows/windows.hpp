// The windows of convolutions and pooling: what they require of an image, and their number.
#pragma once

#include "compute/graph/graph.hpp"

namespace troupe {

/// Whether x is floating [batch, height, width, channels], with all extents known except the batch.
bool is_image(symbol x);
/// Upper limit of a window's size, stride and dilation.
constexpr int64_t window_most = int64_t{1} << 20;
/// The number of windows that fit an axis of `extent`; nothing when none fits. Sets `axis.pad`, the padding before the
/// first.
std::optional<int64_t> place_windows(windows::axis& axis, int64_t extent, padding p);
/// The same for both axes of an image. If none fits, keeps an error in the graph.
std::optional<std::array<int64_t, 2>> place_windows(std::string_view operation, windows& w, symbol x, padding p,
                                                    std::source_location at);

/// conv2d. `w` comes from `place_windows`; `dims` is the shape of the result.
symbol convolve(symbol x, symbol kernel, symbol_shape dims, const windows& w, std::source_location at);

}  // namespace troupe
