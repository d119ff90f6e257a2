// Errors as damages of a report.
#pragma once

#include <troupe/checkpoints.hpp>

namespace troupe {

/// A report names the file once; messages of errors begin with it.
std::string reason_of(const error& e, const std::string& path);
/// Damage from an error of the file system: a truncated file is damaged, an unreadable one may be whole.
damage damage_of(const error& e, const std::string& path, const std::string& tensor, std::optional<int64_t> offset);

}  // namespace troupe
