// Creates prediction files on any file system; the public class only uses the real disk.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/prediction_file.hpp>

namespace troupe {

expected<prediction_file> create_prediction_file(std::shared_ptr<file_system> files, const std::string& path,
                                                 prediction_format format);

}  // namespace troupe
