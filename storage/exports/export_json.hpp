// The JSON files of an export. Whatever is accepted is written again to the same text; `path` is for errors.
//
// Parsers check syntax, kinds and format_version, not whether nodes and signatures fit each other: exports/ does, where operations are
// known. data_loss: damaged, naming path and member; unimplemented: a later version wrote it.
#pragma once

#include "storage/exports/export_content.hpp"

namespace troupe {

/// graph.json: where it came from, the nodes, and the CRC-32C of each tensor's bytes.
struct graph_file {
  export_origin origin;
  stored_graph graph;
  std::map<std::string, uint32_t> checksums;
  int64_t format_version = 2;   ///< Of the export.
};
/// invalid_argument: a name is not UTF-8.
expected<std::string> write_graph_json(const graph_file& f);
expected<graph_file> parse_graph_json(std::string_view text, const std::string& path);

using stored_signatures = std::map<std::string, stored_signature>;
/// signature.json; shapes name the unknowns of the graph.
expected<std::string> write_signature_json(const stored_signatures& signatures, const std::vector<std::string>& unknowns);
expected<stored_signatures> parse_signature_json(std::string_view text, const std::vector<std::string>& unknowns, const std::string& path);

expected<std::string> write_preparation_json(const stored_preparation& p);
expected<stored_preparation> parse_preparation_json(std::string_view text, const std::string& path);

/// best.json: the evaluation that led to an exporter's best export.
struct best_evaluation {
  int64_t global_step = 0;
  std::map<std::string, double> metrics;
  friend bool operator==(const best_evaluation&, const best_evaluation&) = default;
};
expected<std::string> write_best_json(const best_evaluation& best);
expected<best_evaluation> parse_best_json(std::string_view text, const std::string& path);

}  // namespace troupe
