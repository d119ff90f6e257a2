// Exports: a checkpoint's model as a directory that other programs run, made by hand or after evaluations.
// Read it to begin with.
//
//   auto path = tr::export_model(estimator, {.input = images.batch(1)});  // "runs/fashion/export/latest/1795417474"
//
//   auto best = tr::best_exporter("best", {.metric = "accuracy", .smaller_is_better = false});
//   auto path = best.run(estimator, {.input = images.batch(1)}, {.metrics = result.metrics});
//
// exported_model.hpp opens exports. An export is written under a temporary name and renamed, so it is complete or does
// not exist. Two exports within one second wait for each other. Any thread may call; calls block for the file access.
#pragma once

#include <troupe/checkpoint_ref.hpp>
#include <troupe/dataset.hpp>
#include <troupe/metric_goal.hpp>

#include <functional>
#include <map>

namespace troupe {

struct estimator;

/// What to export. Either `input` or `features` is required.
struct export_options {
  std::string directory = {};            ///< Parent of the numbered directory; empty: <model_dir>/export/latest.
  dataset input = {};                    ///< Its features are the model's inputs, without labels. Nothing is read.
  std::vector<component> features = {};  ///< In place of `input`: the features, without the batch axis.
  checkpoint_ref checkpoint = {};        ///< Where the variables come from; by default the newest checkpoint.
  std::map<std::string, std::string> assets_extra = {};  ///< Files to copy: path below assets.extra/ to source path.
  std::map<std::string, std::vector<std::string>> label_words = {};  ///< Words of labels, by the label's name.
  std::map<std::string, double> evaluation = {};            ///< Metrics of this checkpoint, to be stored in the export.
  std::function<void(const std::string&)> on_warning = {};  ///< Is told of damaged checkpoints that were passed over.
};

/// Returns the path of the export, with moving averages as its variables if the optimizer keeps them. On an error there
/// is no new export. invalid_argument: no input; predictions that depend on a label; variables missing from the
/// checkpoint or of another shape, all of them; errors of the model. not_found: no checkpoint. unimplemented: an
/// operation that cannot be exported, naming its node. `state`: a hundred names are taken. Errors of files.
TROUPE_API expected<std::string> export_model(const estimator& e, const export_options& options);

/// After which evaluations a model is exported.
enum class export_rule : uint8_t {
  latest,  ///< Every evaluation.
  best,    ///< Those better than all before, including evaluations before a restart.
  final,   ///< The last one of a job that has reached max_steps, or a search max_iterations, or was ended by a rule.
};

/// An evaluation after which an exporter may export.
struct export_occasion {
  std::map<std::string, double> metrics = {};
  std::string checkpoint = {};  ///< The prefix of the evaluated checkpoint; empty: the newest.
  bool is_final = false;        ///< The last evaluation of the job, for export_rule::final.
  bool again = false;           ///< The job began here and made no step: an existing export is kept.
};

/// Returns whether the metrics `current` are better than `best`.
using better_metrics = std::function<bool(const std::map<std::string, double>& best,
                                          const std::map<std::string, double>& current)>;

/// When to export a model, and which exports to keep: a plain value. The exports are in "<model_dir>/export/<name>".
struct TROUPE_API exporter {
  std::string name = "latest";  ///< The directory: 200 bytes, no slash. Unique in an evaluation.
  export_rule rule = export_rule::latest;
  std::optional<int64_t> exports_to_keep = 5;  ///< The newest ones, at least 1; absent: all. Not looked at by `final`,
                                               ///< which removes nothing.
  metric_goal goal = {};       ///< best: what is compared, of its own evaluation: `goal.evaluation` stays empty. NaN is
                               ///< never better.
  better_metrics better = {};  ///< best: the comparison in place of `goal`.
  /// The decision alone: `best` are the metrics of the best export so far, if there is one. invalid_argument: the
  /// metric is missing from either, naming it and those that there are.
  expected<bool> decide(const export_occasion& now, const std::optional<std::map<std::string, double>>& best) const;
  /// Exports if `decide` says so, and then removes exports beyond `exports_to_keep`: only directories named by ten
  /// digits. `how` has the options, except for directory, checkpoint and evaluation, which are set here. Returns the
  /// path, nothing if no export was due, or, if `now.again`, the path of the newest export of this checkpoint, if any.
  /// Errors of `export_model`; a failed removal is an error as well, and leaves the new export in place.
  expected<std::optional<std::string>> run(const estimator& e, const export_options& how,
                                           const export_occasion& now) const;
};

/// Exports after every evaluation.
inline exporter latest_exporter(std::string name = "latest") { return {.name = std::move(name)}; }
/// Exports after each evaluation that is better than all before it.
inline exporter best_exporter(std::string name = "best_exporter", metric_goal goal = {}) {
  return {.name = std::move(name), .rule = export_rule::best, .goal = std::move(goal)};
}
/// Exports once, at the end.
inline exporter final_exporter(std::string name = "final") {
  return {.name = std::move(name), .rule = export_rule::final};
}

/// Whether an evaluation at this step is the last one. Without max_steps, none is.
TROUPE_API bool is_final_evaluation(std::optional<int64_t> max_steps, int64_t global_step) noexcept;
/// invalid_argument: a name that is empty or no part of a path, fewer than 1 to keep, another evaluation.
TROUPE_API expected<void> validate(const exporter& e);
/// invalid_argument: one that is not valid, or a name twice.
TROUPE_API expected<void> validate(std::span<const exporter> exporters);
/// Runs the exporters in order and returns their results in that order. Stops at the first error.
TROUPE_API expected<std::vector<std::optional<std::string>>> run_exporters(std::span<const exporter> exporters,
                                                                           const estimator& e,
                                                                           const export_options& how,
                                                                           const export_occasion& now);

}  // namespace troupe
