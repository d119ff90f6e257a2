// The part of a stored graph that one signature needs, and the checks of signatures.
#pragma once

#include "storage/exports/export_content.hpp"

#include <troupe/dataset.hpp>

namespace troupe {

/// The nodes of a stored graph that certain nodes, the roots, depend on.
struct stored_part {
  stored_graph graph;
  std::vector<int32_t> place;  ///< By node of the whole graph: its index in the part, or -1.
};
/// The inputs of each node of `whole` must be earlier nodes.
stored_part part_of(const stored_graph& whole, std::span<const int32_t> roots);

/// The signature with these nodes as outputs and the placeholders that they need as inputs.
stored_signature signature_over(const stored_graph& graph, const std::map<std::string, int32_t>& outputs);

/// Checks the signatures against a graph that has been restored before. data_loss, naming the signature and the value:
/// a node that does not exist or has another dtype or shape; inputs other than the placeholders that the outputs need;
/// no signature "serving_default".
expected<void> check_signatures(const export_content& content);

/// The extents of one row; nothing if the first axis is not the batch or another extent is unknown.
std::optional<shape> row_shape(const symbol_shape& dims, const std::vector<std::string>& unknowns);

}  // namespace troupe
