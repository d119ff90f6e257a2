// The exporters of an evaluation, as the evaluator calls them.
#pragma once

#include "storage/exports/export_directory.hpp"

#include <troupe/exporter.hpp>

#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Runs the exporters that are due, and returns one path for each: empty if it had nothing to do.
using exporting = std::function<expected<std::vector<std::string>>(const export_surroundings& in,
                                                                   const export_occasion& now)>;

}  // namespace troupe
