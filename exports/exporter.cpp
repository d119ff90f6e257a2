// Exporters: when to export, and what is kept. The decision is a pure function; what it looks at and what follows are files.
#include "exports/surroundings.hpp"
#include "storage/exports/export_json.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <troupe/estimator.hpp>

#include <cmath>
#include <set>

namespace troupe {

namespace {

using metrics = std::map<std::string, double>;

constexpr std::string_view best_file_name = "best.json";

tl::unexpected<error> refuse(std::string what) { return fail(errc::invalid_argument, std::move(what)); }

expected<double> metric_of(const exporter& one, const metrics& of, std::string_view whose) {
  if (const auto found = of.find(one.metric); found != of.end())
    return found->second;
  return refuse("the exporter '" + one.name + "' compares '" + one.metric + "', and the " + std::string{whose} + " has "
                + (of.empty() ? "no metric" : joined(of, ", ", [](const auto& m) { return m.first; })));
}

/// Calls `look` with each export that is there, the newest first, until it returns true. One of a later version has no origin.
expected<void> look_at_exports(file_system& fs, const std::string& base, const std::function<bool(const std::string&, const export_origin*)>& look) {
  const auto numbers = exports_in(fs, base);
  if (!numbers)
    return fail(numbers.error());
  for (auto n = numbers->rbegin(); n != numbers->rend(); ++n) {
    const std::string path = join_path(base, std::to_string(*n)), graph_path = join_path(path, graph_file_name);
    const auto text = read_file(fs, graph_path);
    if (!text)
      continue;  // Not an export.
    const auto graph = parse_graph_json(*text, graph_path);
    if (look(path, graph ? &graph->origin : nullptr))
      break;
  }
  return {};
}

/// The newest one that is there; nothing where none is, or where it is of a later version.
expected<std::optional<export_origin>> newest_export(file_system& fs, const std::string& base) {
  std::optional<export_origin> newest;
  auto looked = look_at_exports(fs, base, [&](const std::string&, const export_origin* origin) {
    if (origin)
      newest = *origin;
    return true;
  });
  return looked ? expected<std::optional<export_origin>>{std::move(newest)} : fail(looked.error());
}

/// The path of the newest one that is of this checkpoint; empty: there is none. Others may have been made since, by hand as well.
expected<std::string> export_of(file_system& fs, const std::string& base, const std::string& checkpoint) {
  std::string found;
  auto looked = look_at_exports(fs, base, [&](const std::string& path, const export_origin* origin) {
    if (origin && file_name_of(origin->checkpoint) == file_name_of(checkpoint))
      found = path;
    return !found.empty();
  });
  return looked ? expected<std::string>{std::move(found)} : fail(looked.error());
}

/// The metrics of the best export: those of the state file or of the newest export, which a process may have written and died. Where they
/// differ, the better ones.
expected<std::optional<metrics>> recorded_best(file_system& fs, const exporter& one, const std::string& base) {
  std::optional<metrics> best;
  const std::string path = join_path(base, best_file_name);
  auto text = read_file(fs, path);
  if (text) {
    auto state = parse_best_json(*text, path);
    if (!state)
      return fail(state.error());
    best = std::move(state->metrics);
  } else if (text.error().category != errc::not_found) {
    return fail(text.error());
  }
  const auto newest = newest_export(fs, base);
  if (!newest)
    return fail(newest.error());
  if (!*newest || (*newest)->evaluation.empty())
    return best;  // Made by hand, or by a later version: then the state file alone counts.
  const auto better = one.decide({.metrics = (*newest)->evaluation}, best);
  return better && *better ? (*newest)->evaluation : best;
}

expected<void> record_best(file_system& fs, const std::string& base, const export_occasion& now) {
  const auto step = now.metrics.find("global_step");
  const bool known = step != now.metrics.end() && step->second >= 0 && step->second < 0x1p53;
  const auto text = write_best_json({known ? static_cast<int64_t>(step->second) : 0, now.metrics});
  if (!text)
    return fail(text.error());
  return write_file_atomically(fs, base, std::string{best_file_name}, *text);
}

}  // namespace

expected<void> exporter::validate() const {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    return refuse("an exporter needs a name that can be a directory's, not '" + name + "'");
  if (auto right = check_fields(*this, "exporter '" + name + "': "); !right)
    return right;
  if (rule == export_rule::best && !better && metric.empty())
    return refuse("the exporter '" + name + "' needs a metric to compare");
  return {};
}

expected<bool> exporter::decide(const export_occasion& now, const std::optional<std::map<std::string, double>>& best) const {
  switch (rule) {
    case export_rule::latest: return true;
    case export_rule::final: return now.is_final;
    case export_rule::best: break;
  }
  if (better) {
    if (!best)
      return true;
    return guarded("the comparison of the exporter '" + name + "'", [&] { return better(*best, now.metrics); });
  }
  const auto current = metric_of(*this, now.metrics, "evaluation");
  if (!current)
    return fail(current.error());
  if (!best)
    return !std::isnan(*current);
  const auto before = metric_of(*this, *best, "best evaluation so far");
  if (!before)
    return fail(before.error());
  return smaller ? *current < *before : *current > *before;
}

expected<std::optional<std::string>> run_exporter(const export_surroundings& in, const exporter& one, const estimator& e, const export_options& how,
                                                  const export_occasion& now) {
  if (auto right = one.validate(); !right)
    return fail(right.error());
  if (!e.config.model_dir)
    return refuse("the exporter '" + one.name + "' needs a model_dir to export to");
  const std::string base = join_path(*e.config.model_dir, "export/" + one.name);
  const bool compares = one.rule == export_rule::best;
  auto best = compares ? recorded_best(*in.files, one, base) : expected<std::optional<metrics>>{};
  if (!best)
    return fail(best.error());
  if (now.again && *best)  // Results of an earlier run come from event files, which have float32: equal ones must not differ.
    for (auto& [name, value] : **best)
      value = static_cast<double>(static_cast<float>(value));
  const auto due = one.decide(now, *best);
  if (!due)
    return fail(due.error());
  if (!*due)
    return std::optional<std::string>{};
  auto path = now.again ? export_of(*in.files, base, now.checkpoint) : expected<std::string>{};
  if (path && path->empty()) {
    auto options = how;
    options.directory = base;
    options.step.reset();
    options.checkpoint = now.checkpoint;
    options.evaluation = now.metrics;
    path = export_model(in, e, options);
  }
  if (!path)
    return fail(path.error());
  if (compares)
    if (auto recorded = record_best(*in.files, base, now); !recorded)
      return fail(recorded.error());
  if (one.exports_to_keep && one.rule != export_rule::final)
    if (auto kept = keep_exports(*in.files, base, *one.exports_to_keep); !kept)
      return fail(kept.error());
  return std::optional{std::move(*path)};
}

expected<std::optional<std::string>> exporter::run(const estimator& e, const export_options& how, const export_occasion& now) const {
  return run_exporter({}, *this, e, how, now);
}

bool is_final_evaluation(std::optional<int64_t> max_steps, int64_t global_step) noexcept { return max_steps && global_step >= *max_steps; }

expected<void> validate(std::span<const exporter> exporters) {
  std::set<std::string_view> names;
  for (const auto& one : exporters) {
    if (auto right = one.validate(); !right)
      return right;
    if (!names.insert(one.name).second)
      return refuse("two exporters of one evaluation have the name '" + one.name + "'");
  }
  return {};
}

expected<std::vector<std::optional<std::string>>> run_exporters(std::span<const exporter> exporters, const estimator& e, const export_options& how,
                                                                const export_occasion& now) {
  if (auto right = validate(exporters); !right)
    return fail(right.error());
  std::vector<std::optional<std::string>> paths;
  for (const auto& one : exporters) {
    auto path = one.run(e, how, now);
    if (!path)
      return fail(path.error());
    paths.push_back(std::move(*path));
  }
  return paths;
}

}  // namespace troupe
