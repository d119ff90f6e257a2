// Early stopping: rules that end a job because of its evaluations, and what they look at.
// Not needed to begin with.
//
//   tr::train_spec training{.input = train, .max_steps = 100'000,
//                           .stop_early = {tr::stop_if_no_increase("accuracy", 5'000), tr::stop_if_higher("accuracy", 0.95)}};
//
// A rule is a pure function of the evaluations so far, in step order, those of earlier runs of the job included. The job applies it to
// each evaluation before training goes on: where training `waits` for the evaluation, the job ends at exactly the evaluated step; where
// the evaluation is `beside` training, at the horizon. Such an end is final: the checkpoint records it, also at max_steps, and the same
// command trains nothing further. A rule that holds where a job begins ends it there. Definitions are those of tf.estimator.experimental
// (TensorFlow 1.15, early_stopping.py), with a margin and a patience counted in evaluations besides.
#pragma once

#include <troupe/error.hpp>
#include <troupe/metric_goal.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The metrics of one evaluation: of the state after `step` steps.
struct evaluation_point {
  int64_t step = 0;
  std::map<std::string, double> metrics = {};
  friend bool operator==(const evaluation_point&, const evaluation_point&) = default;
};
/// By step.
using evaluation_history = std::vector<evaluation_point>;

/// Reads the evaluations that a job has left in the event files of a directory, "<model_dir>/eval". Values of the same step are merged;
/// a later one takes the place of an earlier one. Event files keep float32; so do jobs for their rules. Without the directory there are
/// none. A damaged file counts up to its damage.
/// unavailable: the directory cannot be read.
TROUPE_API expected<evaluation_history> read_evaluations(const std::string& directory);

struct stop_rule_options {
  std::string evaluation = {};          ///< The name of the eval_spec whose results count.
  int64_t min_steps = 0;                ///< Evaluations of earlier states do not count; a predicate is not asked before, and sees all.
  double min_delta = 0;                 ///< no_increase, no_decrease: a smaller change is none. At least 0.
  /// no_increase, no_decrease: the rule also applies only after so many evaluations without a change for the better.
  int64_t patience = 1;
};

/// A rule as data. Made by the functions below; a value, usable from any thread.
struct stop_rule {
  enum class kind : uint8_t { higher, lower, no_increase, no_decrease, predicate };
  kind what = kind::predicate;
  std::string metric = {};
  double threshold = 0;                 ///< higher, lower.
  int64_t max_steps = 0;                ///< no_increase, no_decrease: so many steps without a change for the better.
  stop_rule_options options = {};
  std::string name = {};                ///< predicate: its purpose in words, for the job's remark.
  std::function<bool(const evaluation_history&)> predicate = {};
};

/// Stops when a value was above the threshold.
TROUPE_API stop_rule stop_if_higher(std::string metric, double threshold, stop_rule_options options = {});
/// Stops when a value was below the threshold.
TROUPE_API stop_rule stop_if_lower(std::string metric, double threshold, stop_rule_options options = {});
/// Stops when, at any point of the history, the best value was at least `max_steps` steps old: a later improvement changes nothing.
TROUPE_API stop_rule stop_if_no_increase(std::string metric, int64_t max_steps, stop_rule_options options = {});
TROUPE_API stop_rule stop_if_no_decrease(std::string metric, int64_t max_steps, stop_rule_options options = {});
/// Stops when the predicate says so, of a history with at least one evaluation. It is called on the thread of its evaluation, one call at a
/// time; one that throws, or does not return within the deadline of hooks, is an error of the evaluation that names the rule.
TROUPE_API stop_rule stop_if(std::string name, std::function<bool(const evaluation_history&)> predicate, stop_rule_options options = {});

/// "no increase of accuracy within 500 steps": the same for equal rules.
TROUPE_API std::string to_text(const stop_rule& rule);
/// invalid_argument naming the value: a threshold or a margin that is not finite, a margin below 0, max_steps or a patience below 1, no
/// metric, no predicate.
TROUPE_API expected<void> check(const stop_rule& rule);
/// Why the job stops; nothing: it does not. key_missing when an evaluation of the history lacks the metric, naming those that it has;
/// `state` when the predicate throws.
TROUPE_API expected<std::optional<std::string>> decide(const stop_rule& rule, const evaluation_history& history);

/// Which commit of a job is its best: the one whose evaluation is the best by the goal; of equal ones the earliest.
/// Retention keeps it beside the newest `keep_checkpoint_max`.
struct keep_best {
  metric_goal goal = {};
  /// The job's result names the best commit, and evaluating, predicting and exporting without a step use it.
  bool restore_best = false;
};

}  // namespace troupe
