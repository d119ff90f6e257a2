// A graph as data, without the memory of a program: names of operations, attributes by name, shapes.
//
// compute/operations/stored_graph.hpp converts a graph to this form and back; storage/exports/ writes it as JSON. Both
// sides share these types and know nothing of each other.
#pragma once

#include <troupe/graph.hpp>

#include <map>
#include <variant>

namespace troupe {

/// The value of one attribute. A list with an unknown in it is a list of extents; otherwise it is a list of numbers.
using stored_value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, symbol_shape>;

struct stored_node {
  std::string name;
  std::string operation;
  std::vector<int32_t> inputs;  ///< Indices of earlier nodes.
  dtype type = dtype::float32;
  symbol_shape dims;                               ///< Unknowns are indices into `stored_graph::unknowns`.
  std::map<std::string, stored_value> attributes;  ///< All attributes of the operation.
  friend bool operator==(const stored_node&, const stored_node&) = default;
};

/// The nodes are in topological order. The name of a node identifies a placeholder or a variable; a constant has the
/// attribute "tensor", the name under which its value is stored beside the graph.
struct stored_graph {
  std::vector<std::string> unknowns;
  std::vector<stored_node> nodes;
  friend bool operator==(const stored_graph&, const stored_graph&) = default;
};

}  // namespace troupe
