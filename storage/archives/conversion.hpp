// Converts checkpoints between formats, on any file system.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/convert.hpp>

namespace troupe {

/// `convert_checkpoint`. `wall_time` is written into a checkpoint of ours; 0: unknown.
expected<conversion_report> convert_archive(const std::shared_ptr<file_system>& fs, const std::string& from, const std::string& to,
                                            const convert_options& options, double wall_time);

}  // namespace troupe
