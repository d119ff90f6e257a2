#include "compute/operations/windows/windows.hpp"

#include <algorithm>

namespace troupe {

bool is_image(symbol x) {
  return x.rank() == 4 && is_floating(x.type())
         && std::all_of(x.dims().begin() + 1, x.dims().end(),
                        [](const extent& e) { return e.known() && e.coefficient > 0; });
}

std::optional<int64_t> place_windows(windows::axis& axis, int64_t extent, padding p) {
  const int64_t reach = (axis.size - 1) * axis.dilation + 1;
  if (p == padding::valid) {
    axis.pad = 0;
    return extent < reach ? std::nullopt : std::optional{(extent - reach) / axis.stride + 1};
  }
  const int64_t count = (extent + axis.stride - 1) / axis.stride;
  axis.pad = std::max<int64_t>(0, (count - 1) * axis.stride + reach - extent) / 2;
  return count;
}

std::optional<std::array<int64_t, 2>> place_windows(std::string_view operation, windows& w, symbol x, padding p,
                                                    std::source_location at) {
  graph& g = *x.owner();
  const auto two = [](const windows::axis& y, const windows::axis& z, int64_t windows::axis::*field) {
    return "{" + std::to_string(y.*field) + ", " + std::to_string(z.*field) + "}";
  };
  for (const auto& [name, field] : {std::pair{"size", &windows::axis::size},
                                    {"strides", &windows::axis::stride},
                                    {"dilation", &windows::axis::dilation}})
    if (w.y.*field < 1 || w.x.*field < 1 || w.y.*field > window_most || w.x.*field > window_most) {
      refuse(g, operation, std::string{name} + " must be from 1 to 2^20, not " + two(w.y, w.x, field), at);
      return {};
    }
  const auto rows = place_windows(w.y, x.dims()[1].coefficient, p),
             columns = place_windows(w.x, x.dims()[2].coefficient, p);
  if (!rows || !columns) {
    refuse(g, operation,
           "a window of " + two(w.y, w.x, &windows::axis::size) + ", dilation "
               + two(w.y, w.x, &windows::axis::dilation) + ", does not fit " + describe(x),
           at);
    return {};
  }
  return std::array{*rows, *columns};
}

}  // namespace troupe
