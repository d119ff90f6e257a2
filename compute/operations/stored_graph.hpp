// Graphs as data and back. What comes back is checked in every field: each node is made anew by the function that makes its operation, and
// must come out as it was stored. So a file from anywhere yields a graph that a model function could have built, or an error.
#pragma once

#include "compute/graph/graph.hpp"
#include "words/stored_graph.hpp"

namespace troupe {

/// A graph as data with what it refers to.
struct graph_slice {
  stored_graph nodes;
  std::vector<int32_t> roots;               ///< The places of the roots among the nodes, in their order.
  std::map<std::string, tensor> constants;  ///< By the name that the nodes have for them, which no variable has.
};

/// The nodes that `roots`, nodes of `g`, need; or an error that names the node: unimplemented, where an operation cannot be stored.
expected<graph_slice> slice_of(const graph& g, std::span<const int32_t> roots);

/// What a stored graph takes from where it comes back to.
struct graph_sources {
  /// The symbol of a placeholder; null: a placeholder is made. One of another dtype or shape is an error that names it.
  std::function<symbol(const stored_node& placeholder)> input = {};
  /// Values of constants and variables by name; each must be there, of the node's dtype and shape.
  const std::map<std::string, tensor>* tensors = nullptr;
};

/// Appends the nodes to `g`; variables begin with their tensors and are put under no scope. Returns a symbol for each node.
/// data_loss: a field that cannot be, naming node and field; unimplemented: an operation that this program does not know. An error of `g`
/// itself is returned as it is.
expected<std::vector<symbol>> restore_nodes(const stored_graph& from, graph& g, const graph_sources& sources, TROUPE_AT);

/// Whether row i of each root is a function of row i of each placeholder alone, and has the batch as its first axis: then rows can be
/// computed in any company, a few at a time or with rows that are not needed. False where that cannot be shown from the shapes.
bool rows_are_apart(const graph& g, std::span<const int32_t> roots);

}  // namespace troupe
