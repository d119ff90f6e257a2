// Exporting: a checkpoint's model as a directory that other programs run (exported_model.hpp), by hand or by rule after evaluations.
// Read it to begin with.
//
//   auto path = tr::export_model(estimator, {.input = images.batch(1)});            // "runs/fashion/export/latest/1795417474"
//
//   auto best = tr::best_exporter("best", {.metric = "accuracy", .smaller_is_better = false});
//   auto path = best.run(estimator, {.input = images.batch(1)}, {.metrics = result.metrics, .checkpoint = result.checkpoint});
//
// An export is there whole or not at all: it is written under a temporary name and renamed. Two exports of one second wait for each other.
// Functions may be called from any thread; they block for as long as reading the checkpoint and writing take.
#pragma once

#include <troupe/checkpoint_ref.hpp>
#include <troupe/dataset.hpp>
#include <troupe/metric_goal.hpp>

#include <functional>
#include <map>

namespace troupe {

struct estimator;

struct export_options {
  std::string directory = {};                ///< The parent of the numbered directory; empty: "<model_dir>/export/latest".
  dataset input = {};                        ///< Batches whose features say what the model is fed; none of them is read, labels are left out. Or:
  std::vector<component> features = {};      ///<   those features, without the batch axis.
  checkpoint_ref checkpoint = {};            ///< Where the variables come from.
  std::map<std::string, std::string> assets_extra = {};  ///< Files to put beside it: the path below assets.extra/, by that of the source.
  std::map<std::string, std::vector<std::string>> label_words = {};  ///< The words of labels, by the name of the label.
  std::map<std::string, double> evaluation = {};         ///< The metrics that led to the export; they are written into it.
};

/// Builds the model's predict graph, takes the variables from the checkpoint (moving averages where the optimizer keeps them) and returns the
/// path of the export. invalid_argument: no input; predictions that depend on a label; no checkpoint, naming the directory; variables that
/// the checkpoint lacks or has in another shape, all of them; any such error of the model. unimplemented: an operation that cannot be
/// exported, naming its node. `state`: a hundred names are taken. Errors of files. On an error there is no new export.
TROUPE_API expected<std::string> export_model(const estimator& e, const export_options& options);

enum class export_rule : uint8_t {
  latest,  ///< After every evaluation.
  best,    ///< After one that is better than all before it, also those before a restart.
  final,   ///< After the last one, where the job has reached max_steps or was ended by a rule.
};

/// What an exporter is told after an evaluation.
struct export_occasion {
  std::map<std::string, double> metrics = {};
  std::string checkpoint = {};               ///< The prefix of the evaluated checkpoint.
  bool is_final = false;
  bool again = false;                        ///< The job began with this checkpoint and has made no step: an export of it that is there stands.
};

/// Whether the metrics `current` are better than `best`.
using better_metrics = std::function<bool(const std::map<std::string, double>& best, const std::map<std::string, double>& current)>;

/// A rule for when to export, and for which exports are kept. A value; its exports are in "<model_dir>/export/<name>".
struct TROUPE_API exporter {
  std::string name = "latest";               ///< Of the directory: one part of a path. Unique among the exporters of an evaluation.
  export_rule rule = export_rule::latest;
  std::optional<int64_t> exports_to_keep = 5;///< The newest ones, at least 1; absent: all. Not looked at by `final`, which removes nothing.
  metric_goal goal = {};                     ///< best: what is compared, of its own evaluation: `goal.evaluation` stays empty. NaN is never better.
  better_metrics better = {};                ///< best: the comparison in place of `goal`.

  /// invalid_argument: a name that is empty or no part of a path, fewer than 1 to keep, another evaluation.
  expected<void> validate() const;
  /// The decision alone: `best` are the metrics of the best export so far, if there is one. invalid_argument: the metric is missing from either,
  /// naming it and those that there are.
  expected<bool> decide(const export_occasion& now, const std::optional<std::map<std::string, double>>& best) const;
  /// Decides by what is in the directory and exports: `how` says how, but for directory, checkpoint and evaluation, which are set here. Then
  /// removes what is not kept: directories of exports whose names are ten digits. Returns the path, or nothing where no export was due; on an
  /// occasion that comes `again` the path of the newest export, if that is of the same checkpoint. An error
  /// as `export_model`; one in removing is an error too, after an export that stays.
  expected<std::optional<std::string>> run(const estimator& e, const export_options& how, const export_occasion& now) const;
};

/// After every evaluation.
inline exporter latest_exporter(std::string name = "latest") { return {.name = std::move(name)}; }
/// After one whose metric is better than any before.
inline exporter best_exporter(std::string name = "best_exporter", metric_goal goal = {}) {
  return {.name = std::move(name), .rule = export_rule::best, .goal = std::move(goal)};
}
/// Once, at the end.
inline exporter final_exporter(std::string name = "final") { return {.name = std::move(name), .rule = export_rule::final}; }

/// Whether an evaluation at this step is the last one: never without max_steps.
TROUPE_API bool is_final_evaluation(std::optional<int64_t> max_steps, int64_t global_step) noexcept;
/// invalid_argument: one that is not valid, or a name twice.
TROUPE_API expected<void> validate(std::span<const exporter> exporters);
/// Runs them in order; the results are in the same places. The first error ends it.
TROUPE_API expected<std::vector<std::optional<std::string>>> run_exporters(std::span<const exporter> exporters, const estimator& e,
                                                                           const export_options& how, const export_occasion& now);

}  // namespace troupe
