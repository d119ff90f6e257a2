// Opens archives: one function for each format.
#pragma once

#include "storage/archives/tensor_archive.hpp"

#include <troupe/checkpoint_id.hpp>

namespace troupe {

/// Opens a Troupe checkpoint and holds its lease as long as the archive exists. Error: data_loss if its manifest is
/// damaged.
expected<std::unique_ptr<tensor_archive>> open_checkpoint(const std::shared_ptr<file_system>& fs,
                                                          const std::string& directory, checkpoint_id id);
expected<std::unique_ptr<tensor_archive>> open_safetensors(const std::shared_ptr<file_system>& fs,
                                                           const std::string& path);
expected<std::unique_ptr<tensor_archive>> open_bundle(const std::shared_ptr<file_system>& fs,
                                                      const std::string& prefix);

}  // namespace troupe
