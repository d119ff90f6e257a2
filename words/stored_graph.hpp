// A graph as data, which no program's memory is needed for: names of operations, attributes by name, shapes.
//
// compute/operations/stored_graph.hpp makes it from a graph and back, storage/exports/ writes it as JSON. Both sides share the
// words here and know nothing of each other.
#pragma once

#include <troupe/graph.hpp>

#include <map>
#include <variant>

namespace troupe {

/// The value of one attribute. A list of extents is told from a list of numbers by an unknown in it.
using stored_value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, symbol_shape>;

struct stored_node {
  std::string name;
  std::string operation;
  std::vector<int32_t> inputs;                ///< Places of earlier nodes.
  dtype type = dtype::float32;
  symbol_shape dims;                          ///< Unknowns are places in `stored_graph::unknowns`.
  std::map<std::string, stored_value> attributes;  ///< Those that the operation has, all of them.
  friend bool operator==(const stored_node&, const stored_node&) = default;
};

/// The nodes in topological order. A placeholder or a variable is known by its node's name; a constant has the attribute "tensor", the name
/// under which its value is kept beside the graph.
struct stored_graph {
  std::vector<std::string> unknowns;
  std::vector<stored_node> nodes;
  friend bool operator==(const stored_graph&, const stored_graph&) = default;
};

}  // namespace troupe
