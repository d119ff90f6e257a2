// Converts graphs to data and back. Restoring checks every field: each node is made by the function of its operation,
// and must equal what was stored. So a file from anywhere yields a graph that a model function could have built, or an
// error.
#pragma once

#include "compute/graph/graph.hpp"
#include "words/stored_graph.hpp"

namespace troupe {

/// A part of a graph as data, with the constants that it refers to.
struct graph_slice {
  stored_graph nodes;
  std::vector<int32_t> roots;               ///< Indices of the roots in `nodes`, in the order of the roots.
  std::map<std::string, tensor> constants;  ///< By the name that the nodes use, which no variable has.
};

/// The nodes of `g` that `roots` need. unimplemented, naming the node, if an operation cannot be stored.
expected<graph_slice> slice_of(const graph& g, std::span<const int32_t> roots);

/// What the destination supplies to a graph that is restored.
struct graph_sources {
  /// Returns the symbol that stands for a placeholder; null: placeholders are made. A symbol of another dtype or shape
  /// is an error that names the placeholder.
  std::function<symbol(const stored_node& placeholder)> input = {};
  /// Values of constants and variables by name. Each must exist, with the node's dtype and shape.
  const std::map<std::string, tensor>* tensors = nullptr;
};

/// Appends the nodes to `g` and returns a symbol for each. Variables start from their tensors and get no scope.
/// data_loss, naming node and field, for an invalid field; unimplemented for an unknown operation. An error that `g`
/// keeps already is returned as it is.
expected<std::vector<symbol>> restore_nodes(const stored_graph& from, graph& g, const graph_sources& sources,
                                            TROUPE_AT);

/// Whether each root has the batch as its first axis, and its row i depends on row i of each placeholder alone. Rows
/// can then be computed in any grouping, a few at a time or with rows that are not needed. False if that cannot be
/// shown from the shapes.
bool rows_are_apart(const graph& g, std::span<const int32_t> roots);

}  // namespace troupe
