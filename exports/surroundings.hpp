// The functions of exporter.hpp with a given file system and clock: those of the job's world, or a test's own.
#pragma once

#include "storage/exports/export_directory.hpp"

#include <troupe/exporter.hpp>

namespace troupe {

/// Checks the user's texts for an export, so that a job fails at its start instead of hours later. invalid_argument,
/// naming words that are not UTF-8.
expected<void> check_words(const estimator& e, const export_options& options);
expected<std::string> export_model(const export_surroundings& in, const estimator& e, const export_options& options);
expected<std::optional<std::string>> run_exporter(const export_surroundings& in, const exporter& one,
                                                  const estimator& e, const export_options& how,
                                                  const export_occasion& now);

}  // namespace troupe
