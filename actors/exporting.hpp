// The exporters of an evaluation as its evaluator calls them.
#pragma once

#include "storage/exports/export_directory.hpp"

#include <troupe/exporter.hpp>

#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Runs the exporters that are due, and returns a path for each: empty where it had nothing to do.
using exporting = std::function<expected<std::vector<std::string>>(const export_surroundings& in, const export_occasion& now)>;

}  // namespace troupe
