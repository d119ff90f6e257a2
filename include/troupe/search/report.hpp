// Reports of subnetworks: what a generator is told about earlier iterations of a search.
// Not needed to begin with.
#pragma once

#include <troupe/model.hpp>

namespace troupe {

/// A text may be any bytes.
using report_value = std::variant<bool, int64_t, double, std::string>;
using report_values = std::map<std::string, report_value>;

/// What a builder says about its subnetwork. Keys are UTF-8.
struct builder_report {
  report_values hparams = {}, attributes = {};
  /// Computed over the data of the reports. The metrics of the evaluation replace those of the same name, and metrics
  /// that are arrays are left out.
  std::map<std::string, metric> metrics = {};
};

/// A report with the values of its metrics.
struct materialized_report {
  int64_t iteration = 0;
  std::string name = {};  ///< The builder, or "previous_ensemble".
  report_values hparams = {}, attributes = {}, metrics = {};
  bool included = false;  ///< Whether the winner of the iteration has this subnetwork as a new member.
  friend bool operator==(const materialized_report&, const materialized_report&) = default;
};

/// What a generator is told at an iteration: the reports of the iterations before it. Both lists are empty in a search
/// without reports.
struct generator_reports {
  std::vector<materialized_report> previous_ensemble = {};  ///< Those that were included.
  std::vector<materialized_report> all = {};
};

}  // namespace troupe
