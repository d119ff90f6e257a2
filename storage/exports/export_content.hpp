// The content of an exported model, as plain data. Byte layout: docs/export_format.md.
#pragma once

#include "words/stored_graph.hpp"

namespace troupe {

/// Where an export came from. For people, and for the exporter that keeps the best export.
struct export_origin {
  std::string model;  ///< The model's name.
  int64_t global_step = 0;
  std::string checkpoint;                         ///< Prefix of the checkpoint; empty: unknown.
  std::map<std::string, double> evaluation = {};  ///< The metrics of the evaluation that led to the export, if any.
  friend bool operator==(const export_origin&, const export_origin&) = default;
};

/// One way to call the graph, with named tensors.
struct stored_signature {
  struct value {
    int32_t node = -1;  ///< Node of the graph; for an input, a placeholder.
    dtype type = dtype::float32;
    symbol_shape dims;  ///< Its unknowns are indices into the graph's unknowns.
    friend bool operator==(const value&, const value&) = default;
  };
  std::map<std::string, value> inputs, outputs;
  friend bool operator==(const stored_signature&, const stored_signature&) = default;
};

/// The default signature. Every export has it.
inline constexpr std::string_view standard_signature = "serving_default";

/// Replaces numbers by words: where the integer tensor `of` is i, the result is words[i].
struct stored_words {
  std::string of;
  std::vector<std::string> words;
  friend bool operator==(const stored_words&, const stored_words&) = default;
};
struct stored_preparation {
  std::map<std::string, std::vector<std::string>> labels = {};  ///< The words of each label, by its name.
  std::map<std::string, stored_words> predictions = {};
  friend bool operator==(const stored_preparation&, const stored_preparation&) = default;
};

struct export_content {
  export_origin origin;
  stored_graph graph;
  std::map<std::string, tensor> tensors;  ///< The values of variables and constants.
  std::map<std::string, stored_signature> signatures;
  stored_preparation preparation;
  /// For an export that was read. False for format version 1, in which not every byte is checked.
  bool has_manifest = true;
};

}  // namespace troupe
