// Exporters: when to export, and which exports to keep. The decision is a pure function; the rest here reads and writes
// files.
#include "exports/surroundings.hpp"
#include "storage/exports/export_json.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <troupe/estimator.hpp>
#include <troupe/options/exporter_fields.hpp>

#include <cmath>
#include <set>

namespace troupe {

namespace {

using metrics = std::map<std::string, double>;

constexpr std::string_view best_file_name = "best.json";

tl::unexpected<error> refuse_exporter(std::string what) { return fail(errc::invalid_argument, std::move(what)); }

expected<double> metric_of(const exporter& one, const metrics& of, std::string_view whose) {
  if (const auto found = of.find(one.goal.metric); found != of.end())
    return found->second;
  return refuse_exporter("the exporter '" + one.name + "' compares '" + one.goal.metric + "', and the "
                         + std::string{whose} + " has "
                         + (of.empty() ? "no metric" : joined(of, ", ", [](const auto& m) { return m.first; })));
}

/// Calls `look` for each export in `base`, newest first, until it returns true. The origin is null if the export is
/// damaged or of a later version.
expected<void> look_at_exports(file_system& fs, const std::string& base,
                               const std::function<bool(const std::string&, const export_origin*)>& look) {
  const auto numbers = exports_in(fs, base);
  if (!numbers)
    return fail(numbers.error());
  for (auto n = numbers->rbegin(); n != numbers->rend(); ++n) {
    const std::string path = join_path(base, std::to_string(*n));
    if (!is_export(fs, path))
      continue;
    const auto origin = read_export_origin(fs, path);
    if (look(path, origin ? &*origin : nullptr))
      break;
  }
  return {};
}

/// The origin of the newest export; nothing if there is none, or if it is damaged or of a later version.
expected<std::optional<export_origin>> newest_export(file_system& fs, const std::string& base) {
  std::optional<export_origin> newest;
  auto looked = look_at_exports(fs, base, [&](const std::string&, const export_origin* origin) {
    if (origin)
      newest = *origin;
    return true;
  });
  return looked ? expected<std::optional<export_origin>>{std::move(newest)} : fail(looked.error());
}

/// The path of the newest export of this checkpoint; empty if there is none. Other exports, also made by hand, may be
/// newer.
expected<std::string> export_of(file_system& fs, const std::string& base, const std::string& checkpoint) {
  std::string found;
  auto looked = look_at_exports(fs, base, [&](const std::string& path, const export_origin* origin) {
    if (origin && file_name_of(origin->checkpoint) == file_name_of(checkpoint))
      found = path;
    return !found.empty();
  });
  return looked ? expected<std::string>{std::move(found)} : fail(looked.error());
}

/// The metrics of the best export, as the state file records them.
expected<std::optional<metrics>> recorded_best(file_system& fs, const std::string& base) {
  const std::string path = join_path(base, best_file_name);
  const auto text = read_file(fs, path);
  if (!text)
    return text.error().category == errc::not_found ? expected<std::optional<metrics>>{} : fail(text.error());
  return parse_best_json(*text, path).map([](best_evaluation&& state) {
    return std::optional{std::move(state.metrics)};
  });
}

expected<void> record_best(file_system& fs, const std::string& base, const metrics& best) {
  const auto step = best.find("global_step");
  const bool known = step != best.end() && step->second >= 0 && step->second < 0x1p53;
  const auto text = write_best_json({known ? static_cast<int64_t>(step->second) : 0, best});
  if (!text)
    return fail(text.error());
  return write_file_atomically(fs, base, std::string{best_file_name}, *text);
}

/// Removes the oldest exports beyond the number that the exporter keeps.
expected<void> remove_old(file_system& fs, const std::string& base, const exporter& one) {
  if (one.exports_to_keep && one.rule != export_rule::final)
    if (auto kept = keep_exports(fs, base, *one.exports_to_keep); !kept)
      return fail(kept.error());
  return {};
}

/// The metrics of the best export. If an earlier process ended after it made a better export but before it recorded it
/// in the state file, the rest of its work is done here.
expected<std::optional<metrics>> settled_best(file_system& fs, const std::string& base, const exporter& one) {
  auto best = recorded_best(fs, base);
  const auto newest = best ? newest_export(fs, base) : fail(best.error());
  if (!newest)
    return fail(newest.error());
  if (!*newest || (*newest)->evaluation.empty())
    return best;  // Made by hand or by a later version: only the state file counts.
  const auto& made = (*newest)->evaluation;
  const auto better = one.decide({.metrics = made}, *best);
  if (!better || !*better)
    return best;
  return record_best(fs, base, made).and_then([&] { return remove_old(fs, base, one); }).map([&] {
    return std::optional{made};
  });
}

}  // namespace

expected<void> validate(const exporter& e) {
  const auto wrong = wrong_in_file_name(e.name);
  if (e.name.empty() || e.name == "." || e.name == ".." || !wrong.empty())
    return refuse_exporter("an exporter needs a name that can be a directory's, not " + quoted(printable(e.name))
                           + (wrong.empty() ? "" : ", which " + wrong));
  if (auto right = check_fields(e, "exporter '" + e.name + "': "); !right)
    return right;
  if (!e.goal.evaluation.empty())
    return refuse_exporter("the exporter '" + e.name
                           + "' compares results of its own evaluation, and cannot name another one, '"
                           + e.goal.evaluation + "'");
  if (e.rule == export_rule::best && !e.better && e.goal.metric.empty())
    return refuse_exporter("the exporter '" + e.name + "' needs a metric to compare");
  return {};
}

expected<bool> exporter::decide(const export_occasion& now,
                                const std::optional<std::map<std::string, double>>& best) const {
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
  return goal.is_better(*current, *before);
}

expected<std::optional<std::string>> run_exporter(const export_surroundings& in, const exporter& one,
                                                  const estimator& e, const export_options& how,
                                                  const export_occasion& now) {
  if (auto right = validate(one); !right)
    return fail(right.error());
  if (!e.config.model_dir)
    return refuse_exporter("the exporter '" + one.name + "' needs a model_dir to export to");
  const std::string base = join_path(*e.config.model_dir, "export/" + one.name);
  auto& fs = *in.files;
  const bool compares = one.rule == export_rule::best;
  auto best = compares ? settled_best(fs, base, one) : expected<std::optional<metrics>>{};
  if (!best)
    return fail(best.error());
  // With `again` the metrics come from an event file of an earlier run, which keeps float32. The best ones are rounded
  // to float32 too, so that equal results stay equal.
  if (now.again && *best)
    for (auto& [name, value] : **best)
      value = static_cast<double>(static_cast<float>(value));
  const auto due = one.decide(now, *best);
  if (!due)
    return fail(due.error());
  if (!*due)
    return std::optional<std::string>{};
  const auto make = [&]() -> expected<std::string> {
    auto path = now.again ? export_of(fs, base, now.checkpoint) : expected<std::string>{};
    if (path && path->empty()) {
      auto options = how;
      options.directory = base;
      options.checkpoint = now.checkpoint.empty() ? checkpoint_ref::newest() : checkpoint_ref::of_path(now.checkpoint);
      options.evaluation = now.metrics;
      path = export_model(in, e, options);
    }
    if (path && compares)
      if (auto recorded = record_best(fs, base, now.metrics); !recorded)
        return fail(recorded.error());
    return path;
  };
  auto path = make();
  if (!path && !fs.info(base))
    path = make();  // The new export was removed together with its directory: try once more.
  if (!path)
    return fail(path.error());
  if (auto kept = remove_old(fs, base, one); !kept)
    return fail(kept.error());
  return std::optional{std::move(*path)};
}

expected<std::optional<std::string>> exporter::run(const estimator& e, const export_options& how,
                                                   const export_occasion& now) const {
  return run_exporter({}, *this, e, how, now);
}

bool is_final_evaluation(std::optional<int64_t> max_steps, int64_t global_step) noexcept {
  return max_steps && global_step >= *max_steps;
}

expected<void> validate(std::span<const exporter> exporters) {
  std::set<std::string_view> names;
  for (const auto& one : exporters) {
    if (auto right = validate(one); !right)
      return right;
    if (!names.insert(one.name).second)
      return refuse_exporter("two exporters of one evaluation have the name '" + one.name + "'");
  }
  return {};
}

expected<std::vector<std::optional<std::string>>> run_exporters(std::span<const exporter> exporters, const estimator& e,
                                                                const export_options& how, const export_occasion& now) {
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
