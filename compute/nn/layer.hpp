// Shared by layers: checks of their operands, and shapes with an axis changed.
#pragma once

#include "compute/graph/graph.hpp"

namespace troupe::nn {

/// An invalid symbol of the operands' graph.
inline symbol invalid_of(std::initializer_list<symbol> operands) {
  for (symbol s : operands)
    if (s.owner())
      return symbol_of(*s.owner(), -1);
  return {};
}

/// Whether the model passed the optional operand x, valid or not.
inline bool given(symbol x) { return x.owner() != nullptr; }

/// Whether x is floating and has at least `rank` axes, of which the last is known.
inline bool has_features(symbol x, int rank) {
  return is_floating(x.type()) && x.rank() >= rank && x.dims().back().known();
}
inline int64_t features_of(symbol x) { return x.dims().back().coefficient; }

inline bool is_rate(double x) { return x >= 0 && x < 1; }

/// x's shape with another last extent.
inline symbol_shape with_last(symbol x, extent last) {
  symbol_shape dims = x.dims();
  dims.back() = last;
  return dims;
}

}  // namespace troupe::nn
