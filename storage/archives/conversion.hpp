// Converts checkpoints between formats, on any file system.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/convert.hpp>

namespace troupe {

/// Implements `convert_checkpoint`. `wall_time` is the save time to store in a Troupe checkpoint, in seconds since the
/// epoch; 0: unknown.
expected<conversion_result> convert_archive(const std::shared_ptr<file_system>& fs, const std::string& from,
                                            const std::string& to, const convert_options& options, double wall_time);

}  // namespace troupe
