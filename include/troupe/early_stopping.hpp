// Early stopping: rules that end a job because of its evaluations.
// Not needed to begin with.
//
//   tr::train_spec training{.input = train, .max_steps = 100'000,
//                           .stop_early = {tr::stop_if_no_increase("accuracy", 5'000),
//                                          tr::stop_if_higher("accuracy", 0.95)}};
//
// A rule is a pure function of the evaluations so far, in step order, including those before a restart. It is applied
// after each evaluation, before training continues. If training `waits` for the evaluation, the job ends at exactly the
// evaluated step; if the evaluation is `beside` training, after the steps granted already. Such an end is final: the
// checkpoint records it, also at max_steps, and the same command trains nothing further. A rule that applies when a job
// begins ends it there. Definitions are those of tf.estimator.experimental (TensorFlow 1.15, early_stopping.py), plus
// `min_delta` and `patience`.
#pragma once

#include <troupe/error.hpp>
#include <troupe/metric_goal.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The metrics of one evaluation, of the state after `step` steps.
struct evaluation_point {
  int64_t step = 0;
  std::map<std::string, double> metrics = {};
  friend bool operator==(const evaluation_point&, const evaluation_point&) = default;
};
/// Sorted by step.
using evaluation_history = std::vector<evaluation_point>;

/// Reads the evaluations of a job from the event files of a directory, "<model_dir>/eval". Values of one step are
/// merged; a later one replaces an earlier one. Values are rounded to float32, as event files store them, and as jobs
/// use them for rules. Empty without the directory. A damaged file is read up to the damage. unavailable: the directory
/// cannot be read.
TROUPE_API expected<evaluation_history> read_evaluations(const std::string& directory);

struct stop_rule_options {
  std::string evaluation = {};  ///< The name of the eval_spec whose results count.
  /// Evaluations before this step do not count. A predicate is not called before it, and then sees all evaluations.
  int64_t min_steps = 0;
  double min_delta = 0;  ///< no_increase, no_decrease: a smaller change is no improvement; at least 0.
  /// no_increase, no_decrease: also requires at least this many evaluations without an improvement. At least 1.
  int64_t patience = 1;
};

/// A rule as data, made by the functions below. A plain value; any thread may use it.
struct stop_rule {
  enum class kind : uint8_t { higher, lower, no_increase, no_decrease, predicate };
  kind what = kind::predicate;
  std::string metric = {};
  double threshold = 0;   ///< Of higher and lower.
  int64_t max_steps = 0;  ///< Of no_increase and no_decrease: most steps without an improvement.
  stop_rule_options options = {};
  std::string name = {};  ///< Of a predicate: its purpose in words, for the job's remark.
  std::function<bool(const evaluation_history&)> predicate = {};
};

/// Stops once a value of the metric has been above the threshold.
TROUPE_API stop_rule stop_if_higher(std::string metric, double threshold, stop_rule_options options = {});
/// Stops once a value of the metric has been below the threshold.
TROUPE_API stop_rule stop_if_lower(std::string metric, double threshold, stop_rule_options options = {});
/// Stops if, at any point of the history, the best (greatest or least) value was at least `max_steps` steps old. A
/// later improvement does not undo that.
TROUPE_API stop_rule stop_if_no_increase(std::string metric, int64_t max_steps, stop_rule_options options = {});
TROUPE_API stop_rule stop_if_no_decrease(std::string metric, int64_t max_steps, stop_rule_options options = {});
/// Stops once the predicate returns true for a history, which has at least one evaluation. It is called on the thread
/// of its evaluation, one call at a time. A predicate that throws, or does not return within the deadline of hooks, is
/// an error of the evaluation, which names the rule.
TROUPE_API stop_rule stop_if(std::string name, std::function<bool(const evaluation_history&)> predicate,
                             stop_rule_options options = {});

/// "no increase of accuracy within 500 steps". Equal rules have the same text.
TROUPE_API std::string to_text(const stop_rule& rule);
/// invalid_argument naming the value: a threshold or a margin that is not finite, a margin below 0, max_steps or a
/// patience below 1, no metric, no predicate.
TROUPE_API expected<void> validate(const stop_rule& rule);
/// Why the job stops; nothing: it does not. key_missing when an evaluation of the history lacks the metric, naming
/// those that it has; `state` when the predicate throws.
TROUPE_API expected<std::optional<std::string>> decide(const stop_rule& rule, const evaluation_history& history);

/// Keeps the best checkpoint of a job, in addition to the newest `keep_checkpoint_max`: the one with the best
/// evaluation by `goal`, the earliest among equals.
struct keep_best {
  metric_goal goal = {};
  /// Whether the best checkpoint replaces the newest one in the job's result, and in evaluations, predictions and
  /// exports that do not name a checkpoint.
  bool restore_best = false;
};

}  // namespace troupe
