// An exported model in memory: the contents of its files, and the weights in the store that every program reads.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "storage/exports/export_content.hpp"
#include "storage/files/file_system.hpp"

#include <troupe/exported_model.hpp>

namespace troupe {

struct exported_model::impl {
  std::string path;
  export_origin origin;
  /// A signature with the part of the graph that it needs.
  struct served_signature {
    stored_graph graph;
    std::map<std::string, int32_t> outputs;  ///< Nodes of `graph`, by output name.
  };
  std::map<std::string, served_signature> served;
  std::map<std::string, export_signature> signatures;
  std::shared_ptr<parameter_store> store;  ///< The variables of all signatures.
  std::map<std::string, tensor> tensors;   ///< By name: variables as views of `store`, and constants.
  std::map<std::string, text_prediction> texts;
  std::map<std::string, std::vector<std::string>> label_words;
  std::string remark;

  /// invalid_argument, naming the signatures that exist.
  expected<const served_signature*> find(const std::string& signature) const;
};

/// `exported_model::open` with a given file system.
expected<exported_model> open_export(file_system& fs, const std::string& directory);

}  // namespace troupe
