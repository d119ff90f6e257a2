// Converts errors to damages in a description.
#pragma once

#include <troupe/checkpoints.hpp>

namespace troupe {

/// The message of an error without the file's path at its beginning: a description names the file only once.
std::string reason_of(const error& e, const std::string& path);
/// Describes an error of the file system as damage. A file that cannot be read may be whole: it is marked `unreadable`.
/// A truncated file is damaged.
damage damage_of(const error& e, const std::string& path, const std::string& tensor, std::optional<int64_t> offset);

}  // namespace troupe
