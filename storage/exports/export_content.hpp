// What an exported model consists of, as plain data; docs/export_format.md has the bytes.
#pragma once

#include "words/stored_graph.hpp"

namespace troupe {

/// Where an export came from; for people, and for the exporter that keeps the best.
struct export_origin {
  std::string model;                          ///< The model's name.
  int64_t global_step = 0;
  std::string checkpoint;                     ///< Its prefix; empty: unknown.
  std::map<std::string, double> evaluation = {};  ///< The metrics that led to the export, if any did.
  friend bool operator==(const export_origin&, const export_origin&) = default;
};

/// One way to call the graph: tensors by name.
struct stored_signature {
  struct value {
    int32_t node = -1;                        ///< Of an input: a placeholder.
    dtype type = dtype::float32;
    symbol_shape dims;                        ///< Unknowns are places in the graph's.
    friend bool operator==(const value&, const value&) = default;
  };
  std::map<std::string, value> inputs, outputs;
  friend bool operator==(const stored_signature&, const stored_signature&) = default;
};

/// The signature that is used where none is named. Every export has it.
inline constexpr std::string_view standard_signature = "serving_default";

/// Words in place of numbers: words[i] wherever the integer tensor `of` is i.
struct stored_words {
  std::string of;
  std::vector<std::string> words;
  friend bool operator==(const stored_words&, const stored_words&) = default;
};
struct stored_preparation {
  std::map<std::string, std::vector<std::string>> labels = {};  ///< The words of labels, by the name of the label.
  std::map<std::string, stored_words> predictions = {};
  friend bool operator==(const stored_preparation&, const stored_preparation&) = default;
};

struct export_content {
  export_origin origin;
  stored_graph graph;
  std::map<std::string, tensor> tensors;      ///< Of variables and constants.
  std::map<std::string, stored_signature> signatures;
  stored_preparation preparation;
  bool has_manifest = true;                   ///< Of one that was read: false for format version 1, of which not every byte is checked.
};

}  // namespace troupe
