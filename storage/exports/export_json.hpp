// The JSON files of an export. A text that a parser accepts is exactly the text that the writer makes of its value.
// `path` is only for error texts.
//
// The parsers check syntax, kinds and format_version. Whether nodes and signatures fit together is checked in exports/,
// where the operations are known. Errors: data_loss: damaged, naming path and member; unimplemented: a later version.
#pragma once

#include "storage/exports/export_content.hpp"

namespace troupe {

/// graph.json: the origin, the nodes, and the CRC-32C of each tensor's bytes.
struct graph_file {
  export_origin origin;
  stored_graph graph;
  std::map<std::string, uint32_t> checksums;
  int64_t format_version = 2;  ///< Format version of the export.
};
/// Error: invalid_argument if a name is not UTF-8, or the graph has more than 256 unknowns.
expected<std::string> write_graph_json(const graph_file& f);
expected<graph_file> parse_graph_json(std::string_view text, const std::string& path);

using stored_signatures = std::map<std::string, stored_signature>;
/// signature.json. Its shapes name unknowns of the graph.
expected<std::string> write_signature_json(const stored_signatures& signatures,
                                           const std::vector<std::string>& unknowns);
expected<stored_signatures> parse_signature_json(std::string_view text, const std::vector<std::string>& unknowns,
                                                 const std::string& path);

expected<std::string> write_preparation_json(const stored_preparation& p);
expected<stored_preparation> parse_preparation_json(std::string_view text, const std::string& path);

/// best.json: the evaluation for which an exporter made its best export.
struct best_evaluation {
  int64_t global_step = 0;
  std::map<std::string, double> metrics;
  friend bool operator==(const best_evaluation&, const best_evaluation&) = default;
};
expected<std::string> write_best_json(const best_evaluation& best);
expected<best_evaluation> parse_best_json(std::string_view text, const std::string& path);

}  // namespace troupe
