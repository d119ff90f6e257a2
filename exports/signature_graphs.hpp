// The part of a stored graph that one signature needs, and the rules that signatures keep.
#pragma once

#include "storage/exports/export_content.hpp"

#include <troupe/dataset.hpp>

namespace troupe {

/// The nodes that some of a stored graph's nodes need.
struct stored_part {
  stored_graph graph;
  std::vector<int32_t> place;   ///< By node of the whole: its place in the part; -1: it is not in it.
};
/// Inputs must be places of earlier nodes.
stored_part part_of(const stored_graph& whole, std::span<const int32_t> roots);

/// A signature over outputs given as nodes, with the placeholders that they need as inputs.
stored_signature signature_over(const stored_graph& graph, const std::map<std::string, int32_t>& outputs);

/// The graph has been restored. data_loss, naming the signature and the value: nodes that are not there, of another dtype or shape, inputs
/// that are not all the placeholders that the outputs need; no signature "serving_default".
expected<void> check_signatures(const export_content& content);

/// The extents of one row; nothing where the first axis is not the batch or another extent is not known.
std::optional<shape> row_shape(const symbol_shape& dims, const std::vector<std::string>& unknowns);

}  // namespace troupe
