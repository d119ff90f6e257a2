// Reports of subnetworks: what a generator is told about earlier iterations. Plain data.
#pragma once

#include "ensemble/iteration_specs.hpp"

#include <troupe/search/report.hpp>

namespace troupe {

/// What a builder says about its subnetwork.
struct subnetwork_report {
  report_values hparams = {}, attributes = {}, metrics = {};
};
/// Error: invalid_argument naming a key that is not UTF-8.
expected<void> validate(const subnetwork_report& r);

// -- making ----------------------------------------------------------------------------

/// The report of a subnetwork: what its builder says, overwritten by the metrics of its evaluation.
materialized_report report_of(std::string builder, subnetwork_report own, const std::map<std::string, double>& metrics);
/// The report of the previous ensemble, from its evaluation.
materialized_report report_of_previous(const std::map<std::string, double>& metrics);
/// For each subnetwork, the index of the candidate whose `adanet_loss` becomes a metric of its report: the last one
/// with this subnetwork as the only new member. Absent for all if the strategies do not propose as many candidates as
/// there are subnetworks.
std::vector<std::optional<size_t>> loss_sources(const iteration_specs& specs, int64_t iteration);
/// The reports of an iteration: the previous ensemble first, if there is one, then the subnetworks in order, of
/// evaluations of all candidates and subnetworks. `own` has one for each subnetwork.
std::vector<materialized_report> make_reports(const iteration_specs& specs, int64_t iteration,
                                              std::vector<subnetwork_report> own,
                                              const std::vector<std::map<std::string, double>>& subnetwork_metrics,
                                              const std::vector<std::map<std::string, double>>& candidate_metrics);

/// A blob of a plan that makes reports: those of the open iteration as builders make them, without metrics of an
/// evaluation, as a text of `reports_text`. No checkpoint has it.
inline constexpr std::string_view own_reports_blob = "own_reports";

// -- keeping ---------------------------------------------------------------------------

/// The reports of all finished iterations, by iteration.
using search_reports = std::vector<std::vector<materialized_report>>;

/// Puts the reports of an iteration where they belong, and says in each whether `winner` includes it. They replace
/// those of the same iteration, so that a restart cannot add them twice, as AdaNet 0.9 does. An earlier iteration
/// without reports gets an empty list.
void put_reports(search_reports& all, int64_t iteration, std::vector<materialized_report> added,
                 const architecture& winner);

/// What a generator is told at an iteration, whatever reports there are by now.
generator_reports reports_before(const search_reports& all, int64_t iteration);

/// The content of `reports_file`: a JSON array, one object for each iteration.
///
///   [{"iteration_number": 0, "subnetwork_reports": [{"attributes": {}, "hparams": {"rate": 0.1},
///     "included_in_final_ensemble": true, "metrics": {"adanet_loss": 0.5}, "name": "linear"}]}]
///
/// JSON has no infinite numbers and no bytes. They are objects: {"float": "nan"}, {"bytes": "c328"} in hexadecimal.
std::string reports_text(const search_reports& all);
/// Reads such a text; an empty one is no reports. The position in the array is the iteration. `file` begins the
/// messages. Error: data_loss naming the key and the value: a key too few or too many, or a value of another type, such
/// as null.
expected<search_reports> parse_reports(std::string_view text, const std::string& file);

}  // namespace troupe
