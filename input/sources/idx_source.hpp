// Datasets of decoded IDX files (MNIST's format): storage/encodings/idx.hpp reads the bytes.
#pragma once

#include <troupe/dataset.hpp>

#include <functional>

namespace troupe::input {

/// Feature "pixels", label "label", from images (uint8, rank >= 2) and labels (uint8, rank 1). The bytes are kept as
/// they are and converted into each batch. Times are those of the files, for the warning that they hold other data.
/// invalid_argument naming file, dtype and shape, or both counts.
struct idx_times {
  int64_t images = 0, labels = 0;  ///< In seconds since the epoch.
};
expected<dataset> idx_dataset(const idx_options& paths, tensor images, tensor labels, idx_times times = {});

/// The two published names of `part` ("train" or "t10k") in `directory`, each plain or else with ".gz"; not_found
/// naming a file that exists as neither.
expected<idx_options> find_mnist_files(const std::string& directory, const std::string& part, const std::function<bool(const std::string&)>& exists);

}  // namespace troupe::input
