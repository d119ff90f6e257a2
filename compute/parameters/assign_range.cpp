#include "compute/parameters/assign_range.hpp"

#include <algorithm>

namespace troupe {

expected<void> assign_range(parameter_store& store, std::string_view name, int64_t first, const tensor& range) {
  const int32_t i = store.layout().find(name);
  if (i < 0)
    return fail(errc::not_found, "no variable named '" + std::string{name} + "'");
  const auto& e = store.layout().entries()[static_cast<size_t>(i)];
  if (range.type() != e.type || range.dims().rank() != 1 || first < 0 || first > e.dims.elements() - range.elements())
    return fail(errc::invalid_argument, "'" + std::string{name} + "' is " + std::string{to_string(e.type)} + " "
                                            + to_text(e.dims) + ", and has no range of "
                                            + std::string{to_string(range.type())} + " " + to_text(range.dims())
                                            + " from element " + std::to_string(first) + " on");
  std::copy_n(range.data(), range.byte_size(),
              (e.updated ? store.arena(0) : store.shared()) + e.offset + first * size_of(e.type));
  return {};
}

}  // namespace troupe
