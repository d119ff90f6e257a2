// The attributes of a node that becomes an ONNX node. The graph has been checked, so they are there.
#pragma once

#include "exports/onnx_graph.hpp"

#include <cmath>
#include <limits>

namespace troupe::onnx_attributes {

using list = std::vector<int64_t>;

inline const stored_value& at(onnx_graph& g, const char* name) { return g.node().attributes.at(name); }
inline list ints(onnx_graph& g, const char* name) { return std::get<list>(at(g, name)); }
inline int64_t integer(onnx_graph& g, const char* name) { return std::get<int64_t>(at(g, name)); }
inline bool flag(onnx_graph& g, const char* name) { return std::get<bool>(at(g, name)); }
inline double real(onnx_graph& g, const char* name) {
  const auto& v = at(g, name);
  if (const auto* text = std::get_if<std::string>(&v))
    return *text == "inf"    ? std::numeric_limits<double>::infinity()
           : *text == "-inf" ? -std::numeric_limits<double>::infinity()
                             : std::nan("");
  if (const auto* whole = std::get_if<int64_t>(&v))
    return static_cast<double>(*whole);
  return std::get<double>(v);
}
inline symbol_shape extents(onnx_graph& g, const char* name) {
  const auto& v = at(g, name);
  if (const auto* numbers = std::get_if<list>(&v))
    return symbol_shape(numbers->begin(), numbers->end());
  return std::get<symbol_shape>(v);
}

inline dtype type_of(onnx_graph& g) { return g.node().type; }
inline int64_t known(const extent& e) { return e.coefficient; }

}  // namespace troupe::onnx_attributes
