#include "compute/engine/step_engine.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::optional<double> number_in(const tensor& one) {
  switch (one.type()) {
    case dtype::float32: return static_cast<double>(one.as<float>()[0]);
    case dtype::float64: return one.as<double>()[0];
    case dtype::int32: return static_cast<double>(one.as<int32_t>()[0]);
    case dtype::int64: return static_cast<double>(one.as<int64_t>()[0]);
    case dtype::boolean:
    case dtype::uint8: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::map<std::string, double> values_in(std::span<const stored_piece> pieces, const std::vector<std::string>& names) {
  std::map<std::string, double> values;
  for (const auto& piece : pieces)
    if (piece.dims.elements() == 1 && piece.elements.elements() == 1
        && std::find(names.begin(), names.end(), piece.name) != names.end())
      if (const auto number = number_in(piece.elements))
        values[piece.name] = *number;
  return values;
}

}  // namespace troupe
