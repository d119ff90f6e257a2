// Experiments: a model with its data, and the schedules by which its processes train and evaluate it, as with
// TensorFlow's Experiment.
// Not needed to begin with.
//
//   const tr::experiment shoes{.estimator = estimator, .train_data = train, .eval_data = test, .train_steps = 3000};
//   auto result = shoes.train_and_evaluate();
//
//   const auto which = tr::parse_schedule("continuous_eval");  // In another process, over the same model directory.
//   auto result = which.and_then([&](tr::schedule s) { return tr::run_experiment(shoes, s); });
//
// Each schedule blocks until it ends, which some do only by `train_steps` or by their predicate. Exporters take the
// place of export strategies, hooks that of monitors. Results go to the event files of evaluations of the names given
// here: "eval_one_pass" in the model directory for one_pass.
#pragma once

#include <troupe/estimator.hpp>

#include <functional>

namespace troupe {

/// What a schedule has brought.
struct experiment_result {
  int64_t global_step = 0;  ///< Of the last evaluation; without one, where training ended.
  /// The last one. One that a training has made has neither its seconds nor the number of its batches.
  std::optional<evaluation_result> evaluation = {};
  /// Paths of the exports after it, in the order of `experiment::exporters`; an empty one was not due. Empty if nothing
  /// was exported.
  std::vector<std::string> exports = {};
  std::optional<train_result> training = {};  ///< The last training of the schedule, if it trains.
};

/// Asked before every round whether there is another one. `results` are null before the first round, and an empty map
/// after one that found no new checkpoint; `checkpoint` is the prefix that they belong to, or empty.
using round_predicate = std::function<bool(const std::map<std::string, double>* results,
                                           const std::string& checkpoint)>;

struct continuous_eval_options {
  std::optional<double> delay_secs = {};           ///< Before the first round. None: `experiment::eval_delay_secs`.
  std::optional<double> throttle_delay_secs = {};  ///< None: `experiment::continuous_eval_throttle_secs`.
  bool evaluate_checkpoint_only_once = true;       ///< False: each round evaluates the newest checkpoint.
  round_predicate predicate = {};                  ///< Empty: yes, always.
};

/// A plain value with the names and defaults of TensorFlow. Any thread may call a schedule; each call stands alone. All
/// return invalid_argument for what `validate` refuses, for data that they need and that are absent, and if they
/// evaluate without a model directory; then the first error of a training, an evaluation or an exporter.
struct TROUPE_API experiment {
  troupe::estimator estimator = {};
  dataset train_data = {};
  dataset eval_data = {};
  std::optional<int64_t> train_steps = {};  ///< The global step to end at. None: until the data end.
  std::optional<int64_t> eval_steps = 100;  ///< Batches of an evaluation. None: until the data end.
  std::vector<std::shared_ptr<hook>> train_hooks = {};
  std::vector<std::shared_ptr<hook>> eval_hooks = {};
  double eval_delay_secs = 120;               ///< Before `evaluate` and continuous evaluations.
  double continuous_eval_throttle_secs = 60;  ///< Least seconds between the starts of two continuous evaluations.
  /// train_and_evaluate: least steps from one evaluated checkpoint to the next. 0: only the last one is evaluated.
  int64_t min_eval_frequency = 1;
  std::optional<int64_t> local_eval_frequency = {};  ///< The same for `local_run`. None: 0.
  double check_interval_secs = 5;  ///< Of both: least seconds between the starts of two evaluations while training.
  bool delay_workers_by_global_step = false;  ///< Workers begin by the chief's step, not by time.
  std::vector<exporter> exporters = {};       ///< Run after evaluations, in this order; see each schedule.
  export_options exports_like = {};           ///< As `eval_spec::exports_like`.
  /// continuous_train_and_eval: steps between evaluations. None: a tenth of `train_steps`, at least 1; 1000 without.
  std::optional<int64_t> train_steps_per_iteration = {};
  bool checkpoint_and_export = false;  ///< train_and_evaluate evaluates and exports at every save.
  std::vector<std::shared_ptr<saving_listener>> saving_listeners = {};

  /// Trains to `train_steps`, after `delay_secs`. None: as `start_delay_of` says.
  expected<train_result> train(std::optional<double> delay_secs = {}) const;
  /// Evaluates the newest checkpoint after `delay_secs`. None: `eval_delay_secs`. Exports nothing.
  expected<evaluation_result> evaluate(std::optional<double> delay_secs = {}, std::string name = "one_pass") const;
  /// Evaluates checkpoints as another process commits them, under the name "continuous", and exports after each
  /// evaluation; until an evaluated checkpoint has reached `train_steps`, or the predicate says no. A checkpoint is
  /// held until its exports are there. Rounds begin `throttle_delay_secs` apart, at the least; one that finds no new
  /// checkpoint lasts until there is one, but not longer than the throttle, or than 5 s if that is below. While there
  /// is none, `on_warning` is told at once and then every 600 s.
  expected<experiment_result> continuous_eval(const continuous_eval_options& options = {}) const;
  /// The same on `train_data`, under the name "continuous_on_train_data", without exports.
  expected<experiment_result> continuous_eval_on_train_data(const continuous_eval_options& options = {}) const;
  /// Trains, and evaluates and exports the last checkpoint. On the way it evaluates as `min_eval_frequency` and
  /// `check_interval_secs` admit. With `checkpoint_and_export` it evaluates and exports at every save instead, the one
  /// before the first step included, under the name "intermediate_export". A chief cannot: it leaves evaluations to an
  /// evaluator.
  expected<experiment_result> train_and_evaluate() const;
  /// The same with `local_eval_frequency` in place of `min_eval_frequency`.
  expected<experiment_result> local_run() const;
  /// Trains `train_steps_per_iteration` steps, evaluates under the name "one_pass" and exports, in rounds, until
  /// `train_steps` is reached and no further, the predicate says no, or a hook has stopped a training. The data go on
  /// from round to round, and begin anew when they have ended.
  expected<experiment_result> continuous_train_and_eval(const round_predicate& predicate = {}) const;
  /// Waits in a task of the type "ps" for the end of the chief's job. invalid_argument: another task, or no cluster.
  expected<experiment_result> run_std_server() const;
  /// One step of training, one batch of evaluation under the name "one_pass" without hooks, and exports: shows whether
  /// all of it can run.
  expected<experiment_result> test() const;

  /// Receives warnings, on any thread, one call at a time. Empty: nobody does.
  std::function<void(const std::string& text)> on_warning = {};
};

/// invalid_argument, naming the first field that is out of range, a null hook or listener, or an invalid exporter.
TROUPE_API expected<void> validate(const experiment& e);

/// What a task waits for before it trains, so that not all begin at once.
struct start_delay {
  double secs = 0;
  int64_t step = 0;  ///< A step that the newest checkpoint has to reach.
  friend bool operator==(const start_delay&, const start_delay&) = default;
};
/// For task `id` of its job: 5 s for each task before it, at most 60 s. `by_step`: step 8000 ln(id + 1), rounded down.
TROUPE_API start_delay start_delay_of(int64_t id, bool by_step) noexcept;

/// The schedules, by the names of their functions.
enum class schedule : uint8_t {
  train,
  evaluate,
  continuous_eval,
  continuous_eval_on_train_data,
  train_and_evaluate,
  local_run,
  continuous_train_and_eval,
  run_std_server,
  test
};
TROUPE_API std::string_view to_string(schedule s) noexcept;
/// In the order of the enumeration.
TROUPE_API std::vector<schedule> all_schedules();
/// invalid_argument, with the names that there are.
TROUPE_API expected<schedule> parse_schedule(std::string_view name);
/// The data that a schedule reads.
struct schedule_data {
  bool train = false, eval = false;
};
TROUPE_API schedule_data data_of(schedule s) noexcept;
/// The schedule of a task: of a master, and without a cluster, train_and_evaluate; of a worker train; of a ps
/// run_std_server. invalid_argument: a task of another type, or without one.
TROUPE_API expected<schedule> default_schedule(const std::optional<cluster>& c);
/// Runs a schedule with its defaults. None: the `default_schedule` of the estimator's cluster.
TROUPE_API expected<experiment_result> run_experiment(const experiment& e, std::optional<schedule> which = {});

}  // namespace troupe
