// How the nodes of each operation are stored: the attributes that they have, and the function that makes one anew.
#pragma once

#include "compute/graph/operation.hpp"
#include "words/stored_graph.hpp"

namespace troupe {

/// What is known of a node that is made anew.
struct remaking {
  graph& g;
  const std::vector<symbol>& x;             ///< As many as the form says.
  const attributes& a;
  dtype type;
  const symbol_shape& dims;                 ///< No coefficient is negative.
  std::source_location at;

  const symbol_shape& in(size_t i) const { return x[i].dims(); }
  /// An error of the graph, and an invalid symbol.
  symbol refuse(std::string message) const { return g.invalid({errc::data_loss, std::move(message)}, at); }
};

struct stored_form {
  const operation* op;
  size_t inputs_least, inputs_most;
  std::vector<std::string_view> attributes;  ///< Names in `attribute_fields`.
  symbol (*make)(const remaking& r);
};

/// Null for an operation that cannot be stored. Placeholders, variables and constants have none either.
const stored_form* stored_form_of(std::string_view operation);

/// The attribute of that name, which exists, as data; and back, false for a value of another kind.
stored_value read_attribute(const attributes& from, std::string_view name);
bool write_attribute(attributes& to, std::string_view name, const stored_value& value);

}  // namespace troupe
