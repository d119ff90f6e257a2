// The formats of archives; each is opened by its own function.
#pragma once

#include "storage/archives/tensor_archive.hpp"

#include <troupe/checkpoint_id.hpp>

namespace troupe {

/// A checkpoint of ours, with a lease for as long as it is open. data_loss where its manifest is damaged.
expected<std::unique_ptr<tensor_archive>> open_checkpoint(const std::shared_ptr<file_system>& fs, const std::string& directory, checkpoint_id id);
expected<std::unique_ptr<tensor_archive>> open_safetensors(const std::shared_ptr<file_system>& fs, const std::string& path);
expected<std::unique_ptr<tensor_archive>> open_bundle(const std::shared_ptr<file_system>& fs, const std::string& prefix);

}  // namespace troupe
