// How the nodes of each operation are stored: their attributes, and the function that restores a node.
#pragma once

#include "compute/graph/operation.hpp"
#include "words/stored_graph.hpp"

namespace troupe {

/// The stored data of a node that is being restored.
struct remaking {
  graph& g;
  const std::vector<symbol>& x;  ///< The inputs: as many as the form allows.
  const attributes& a;
  dtype type;
  const symbol_shape& dims;  ///< No coefficient is negative.
  std::source_location at;

  const symbol_shape& in(size_t i) const { return x[i].dims(); }
  /// Keeps a data_loss error in the graph and returns an invalid symbol.
  symbol refuse(std::string message) const { return g.invalid({errc::data_loss, std::move(message)}, at); }
};

struct stored_form {
  const operation* op;
  size_t inputs_least, inputs_most;
  std::vector<std::string_view> attributes;  ///< Names that `read_attribute` accepts.
  symbol (*make)(const remaking& r);
};

/// The form of an operation; null if it cannot be stored. Placeholders, variables and constants have none either.
const stored_form* stored_form_of(std::string_view operation);

/// Converts the attribute called `name`, which must exist, to data and back; false if `value` is of another kind.
stored_value read_attribute(const attributes& from, std::string_view name);
bool write_attribute(attributes& to, std::string_view name, const stored_value& value);

}  // namespace troupe
