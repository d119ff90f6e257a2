// Exported models as what a server calls, and the exports of a directory as its versions.
#pragma once

#include "serving/served_versions.hpp"

namespace troupe {

/// The exports of `directory`: itself, those named by numbers in it, or those of every exporter below export/. not_found: there is
/// none of these.
expected<std::unique_ptr<version_source>> exports_of(const std::string& directory);

/// "latest" of "runs/a/export/latest/" and of "runs/a/export/latest/1795417474"; the model directory's own name where it is one.
std::string model_name_of(const std::string& directory);

}  // namespace troupe
