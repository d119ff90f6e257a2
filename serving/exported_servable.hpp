// Adapts exported models to what a server calls, and the exports of a directory to its versions.
#pragma once

#include "serving/served_versions.hpp"

namespace troupe {

/// The exports of `directory`: the directory itself if it is an export, the exports in it that have numbers as names,
/// or those of every exporter below export/. not_found if there are none.
expected<std::unique_ptr<version_source>> exports_of(const std::string& directory);

/// "latest" for "runs/a/export/latest/" and for "runs/a/export/latest/1795417474"; the directory's own name for a model
/// directory.
std::string model_name_of(const std::string& directory);

}  // namespace troupe
