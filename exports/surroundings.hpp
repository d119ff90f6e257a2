// The functions of exporter.hpp with files and a clock of the caller's: in a job those of its world, in tests their own.
#pragma once

#include "storage/exports/export_directory.hpp"

#include <troupe/exporter.hpp>

namespace troupe {

/// What an export has of the user beside the model's graph, which a job is to know before hours have passed: invalid_argument, naming words that are
/// not UTF-8.
expected<void> check_words(const estimator& e, const export_options& options);
expected<std::string> export_model(const export_surroundings& in, const estimator& e, const export_options& options);
expected<std::optional<std::string>> run_exporter(const export_surroundings& in, const exporter& one, const estimator& e, const export_options& how,
                                                  const export_occasion& now);

}  // namespace troupe
