#include "ensemble/reports.hpp"

#include "ensemble/names.hpp"
#include "ensemble/reports_json.hpp"
#include "words/expect.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace troupe {

namespace {

constexpr std::string_view adanet_loss = "adanet_loss";

bool is_new_member(const architecture& a, int64_t iteration, const std::string& builder) {
  return std::find(a.members.begin(), a.members.end(), ensemble_member{iteration, builder}) != a.members.end();
}

/// The only new member of a candidate; null if it has none or several.
const std::string* only_new_member(const candidate_spec& c, int64_t iteration) {
  const std::string* found = nullptr;
  for (const auto& member : c.recipe.members) {
    if (member.iteration != iteration)
      continue;
    if (found)
      return nullptr;
    found = &member.builder;
  }
  return found;
}

void overwrite(report_values& values, const std::map<std::string, double>& metrics) {
  for (const auto& [name, value] : metrics)
    values[name] = value;
}

void include(std::vector<materialized_report>& reports, int64_t iteration, const architecture& winner) {
  for (auto& r : reports) {
    r.iteration = iteration;
    r.included = is_new_member(winner, iteration, r.name);
  }
}

}  // namespace

expected<void> validate(const subnetwork_report& r) {
  for (const auto* values : {&r.hparams, &r.attributes, &r.metrics})
    for (const auto& [key, value] : *values)
      if (!search_json::is_utf8(key))
        return fail(errc::invalid_argument, "the key " + troupe::quoted(printable(key)) + " of a report is not UTF-8");
  return {};
}

materialized_report report_of(std::string builder, subnetwork_report own,
                              const std::map<std::string, double>& metrics) {
  overwrite(own.metrics, metrics);
  return {.name = std::move(builder),
          .hparams = std::move(own.hparams),
          .attributes = std::move(own.attributes),
          .metrics = std::move(own.metrics)};
}

materialized_report report_of_previous(const std::map<std::string, double>& metrics) {
  return report_of(std::string{previous_ensemble_name}, {}, metrics);
}

std::vector<std::optional<size_t>> loss_sources(const iteration_specs& specs, int64_t iteration) {
  std::vector<std::optional<size_t>> sources(specs.subnetworks.size());
  const size_t first = iteration > 0 ? 1 : 0;
  std::set<std::string> proposed;
  for (size_t i = first; i < specs.candidates.size(); ++i)
    proposed.insert(specs.candidates[i].recipe.candidate);
  if (proposed.size() != sources.size())
    return sources;
  for (size_t i = first; i < specs.candidates.size(); ++i)
    for (size_t s = 0; s < sources.size(); ++s)
      if (const auto* builder = only_new_member(specs.candidates[i], iteration);
          builder && *builder == specs.subnetworks[s].builder)
        sources[s] = i;
  return sources;
}

std::vector<materialized_report> make_reports(const iteration_specs& specs, int64_t iteration,
                                              std::vector<subnetwork_report> own,
                                              const std::vector<std::map<std::string, double>>& subnetwork_metrics,
                                              const std::vector<std::map<std::string, double>>& candidate_metrics) {
  expect(own.size() == specs.subnetworks.size() && subnetwork_metrics.size() == own.size()
             && candidate_metrics.size() == specs.candidates.size(),
         "there are not as many reports and metrics as specs");
  const auto sources = loss_sources(specs, iteration);
  std::vector<materialized_report> all;
  if (iteration > 0)
    all.push_back(report_of_previous(candidate_metrics[0]));
  for (size_t s = 0; s < own.size(); ++s) {
    all.push_back(report_of(specs.subnetworks[s].builder, std::move(own[s]), subnetwork_metrics[s]));
    if (!sources[s])
      continue;
    if (const auto& metrics = candidate_metrics[*sources[s]]; metrics.contains(std::string{adanet_loss}))
      all.back().metrics[std::string{adanet_loss}] = metrics.at(std::string{adanet_loss});
  }
  for (auto& r : all)
    r.iteration = iteration;
  return all;
}

void put_reports(search_reports& all, int64_t iteration, std::vector<materialized_report> added,
                 const architecture& winner) {
  const auto at = static_cast<size_t>(iteration);
  include(added, iteration, winner);
  if (at >= all.size())
    all.resize(at + 1);
  all[at] = std::move(added);
}

generator_reports reports_before(const search_reports& all, int64_t iteration) {
  generator_reports seen;
  for (size_t i = 0; i < std::min(all.size(), static_cast<size_t>(iteration)); ++i)
    seen.all.insert(seen.all.end(), all[i].begin(), all[i].end());
  std::copy_if(seen.all.begin(), seen.all.end(), std::back_inserter(seen.previous_ensemble),
               [](const auto& r) { return r.included; });
  return seen;
}

std::string reports_text(const search_reports& all) { return search_json::text_of(search_json::as_json(all)); }

expected<search_reports> parse_reports(std::string_view text, const std::string& file) {
  if (text.empty())
    return search_reports{};
  return search_json::read(text, file, search_json::reports_in);
}

}  // namespace troupe
