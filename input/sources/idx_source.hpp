// Datasets from IDX files (MNIST's format), which storage/encodings/idx.hpp has decoded.
#pragma once

#include <troupe/dataset.hpp>

#include <functional>
#include <optional>

namespace troupe::input {

/// A dataset with the feature "pixels" from images (uint8, rank >= 2) and the label "label" from labels (uint8, rank
/// 1), if there are any. The bytes are stored unchanged and converted when a batch is made. `times` are the files'
/// modification times, for the warning that their data have changed. Error: invalid_argument naming file, dtype and
/// shape, or both counts.
struct idx_times {
  int64_t images = 0, labels = 0;  ///< In seconds since the epoch.
};
expected<dataset> idx_dataset(const idx_options& paths, tensor images, std::optional<tensor> labels,
                              idx_times times = {});

/// The two published file names of `part` ("train" or "t10k") in `directory`: each plain if that file exists, else with
/// ".gz". Error: not_found naming a file that exists as neither.
expected<idx_options> find_mnist_files(const std::string& directory, const std::string& part,
                                       const std::function<bool(const std::string&)>& exists);

}  // namespace troupe::input
