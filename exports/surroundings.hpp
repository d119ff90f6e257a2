// What exporting needs of the machine; tests have their own.
#pragma once

#include "storage/exports/export_directory.hpp"

#include <troupe/exporter.hpp>

namespace troupe {

struct export_surroundings {
  std::shared_ptr<file_system> files = posix_file_system();
  export_clock clock = system_export_clock();
};

/// The functions of exporter.hpp in these surroundings.
expected<std::string> export_model(const export_surroundings& in, const estimator& e, const export_options& options);
expected<std::optional<std::string>> run_exporter(const export_surroundings& in, const exporter& one, const estimator& e, const export_options& how,
                                                  const export_occasion& now);

}  // namespace troupe
