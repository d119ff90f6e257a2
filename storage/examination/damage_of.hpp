// Converts errors to damages in a report.
#pragma once

#include <troupe/checkpoints.hpp>

namespace troupe {

/// The message of an error without the file's path at its beginning: a report names the file only once.
std::string reason_of(const error& e, const std::string& path);
/// The damage that an error of the file system means: a truncated file is damaged; a file that cannot be read may be
/// whole.
damage damage_of(const error& e, const std::string& path, const std::string& tensor, std::optional<int64_t> offset);

}  // namespace troupe
