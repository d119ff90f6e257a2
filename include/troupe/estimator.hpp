// The front door: a model with its run configuration, and what can be done with it.
// Read it to begin with.
//
//   auto estimator = tr::estimator{tr::dnn_classifier({...}), {.model_dir = "runs/fashion"}};
//   auto result = tr::train_and_evaluate(estimator, {.input = train, .max_steps = 3000}, {.input = test});
//
// Each call starts a job (job.hpp), blocks until it ends and returns its result. Any thread may call. Calls that train
// at the same time need different model directories.
#pragma once

#include <troupe/checkpoint_ref.hpp>
#include <troupe/cluster.hpp>
#include <troupe/dataset.hpp>
#include <troupe/early_stopping.hpp>
#include <troupe/evaluation_listener.hpp>
#include <troupe/exporter.hpp>
#include <troupe/hook.hpp>
#include <troupe/model.hpp>
#include <troupe/results.hpp>
#include <troupe/run_config.hpp>
#include <troupe/saving_listener.hpp>
#include <troupe/warm_start.hpp>

namespace troupe {

/// A model and how its jobs are run: a plain value.
struct estimator {
  troupe::model model = {};
  run_config config = {};
  /// Where the variables of a job come from if there is no checkpoint. None: initial values drawn from the seed.
  std::optional<warm_start_settings> warm_start = {};
  /// The processes that train together, and which this one is (cluster.hpp). None: it works alone. An evaluator
  /// evaluates what the chief saves; a ps waits for the end. Workers are unimplemented so far.
  std::optional<troupe::cluster> cluster = {};
};

/// The estimator as a task of the cluster, in the model directory that either of them names. invalid_argument: they
/// name two; all that `validate` refuses of the cluster.
TROUPE_API expected<estimator> with_cluster(estimator e, const cluster& c);

/// What a job does with data that are not those of its checkpoint: other components or examples, or other stages.
enum class input_change : uint8_t {
  refuse,  ///< It does not begin; the error names the first difference.
  anew,    ///< A warning names the difference, and the data begin anew.
};

/// What to train on, and for how long. Without `max_steps`, `steps`, `epochs`: until the data end. Counts start at 1.
struct train_spec {
  dataset input = {};
  std::optional<int64_t> max_steps = {};  ///< The global step to end at. A job that has reached it trains nothing.
  std::optional<int64_t> steps = {};      ///< How many steps to make from where this job starts. Not with `max_steps`.
  /// Ends after this many epochs of the source, in whole batches, earlier jobs in the directory included. With
  /// `max_steps` the earlier end counts. invalid_argument: the size of the source is not known.
  std::optional<int64_t> epochs = {};
  std::optional<double> max_secs = {};  ///< Seconds of training, without pauses, until the job saves and stops.
  /// A job that has finished and is given more steps: its data go on where they ended, and do not begin anew.
  bool continue_input = false;
  input_change input_changed = input_change::refuse;
  /// Called in this order (hook.hpp). In a process that evaluates and does not train they hear events, and no more.
  std::vector<std::shared_ptr<hook>> hooks = {};
  /// Called at every save (saving_listener.hpp), so checkpoints are required. One that is listed twice is called once.
  std::vector<std::shared_ptr<saving_listener>> saving_listeners = {};
  std::vector<stop_rule> stop_early = {};  ///< The first rule that applies ends the job. Rules require an evaluation.
  std::optional<troupe::keep_best> keep_best = {};  ///< Keeps the checkpoint of the best evaluation as well.
};

/// Whether training pauses while a checkpoint is evaluated.
enum class evaluation_mode : uint8_t {
  waits,  ///< Training pauses until the evaluation is done, as with the Estimator's local driver.
  /// Training continues. The newest checkpoint is evaluated, under a lease; one that a newer checkpoint supersedes
  /// before its evaluation begins is skipped, but never the last one. For evaluations that take long.
  beside,
};

/// What happens to a training job when one of its evaluations fails, dies or misses its deadline.
enum class failure_policy : uint8_t {
  fail,   ///< The state is saved, and the job fails.
  go_on,  ///< A warning. Training continues, without further evaluations if the evaluator itself has died.
};

/// One evaluation: alone (`evaluate`), or of a training job's checkpoints.
struct eval_spec {
  dataset input = {};
  std::optional<int64_t> steps = {};  ///< Batches in each evaluation; absent: all of the data, which must end.
  std::string name = {};              ///< Results go to "eval" or "eval_<name>": 200 bytes, no slash. Unique in a job.
  double start_delay_secs = 0;        ///< Seconds before the first evaluation; the last is exempt. Estimator: 120.
  double throttle_secs = 600;         ///< Least seconds between the starts of two evaluations; the last one is exempt.
  /// How many batches to evaluate before the first step of a new job, so that invalid data or metrics fail early. The
  /// result is neither reported nor written. 0: none.
  int64_t sanity_batches = 2;
  /// Also evaluates the current variables at every multiple of this many steps that is not saved, regardless of
  /// `throttle_secs`. There is no checkpoint of such a state, so no exporter runs. Only with `waits`. Absent: none.
  std::optional<int64_t> every_steps = {};
  std::vector<std::shared_ptr<hook>> hooks = {};       ///< Called for each batch, except for `sanity_batches`.
  std::shared_ptr<evaluation_listener> listener = {};  ///< Of an evaluator in a process of its own; may be null.
  /// Run in this order after an evaluation, while a lease keeps its checkpoint; those with the rule `final` run once a
  /// job has reached max_steps or was ended by a rule.
  std::vector<exporter> exporters = {};
  export_options exports_like = {};  ///< Options of these exports. Without features, those of `input` are used.
  evaluation_mode when = evaluation_mode::waits;
  /// Replicas to which batches are dealt. Absent: `run_config::replicas`, or 1 `beside`. One if the model carries
  /// states.
  std::optional<int64_t> replicas = {};
  failure_policy on_evaluator_failure = failure_policy::fail;  ///< In a training job, and in an evaluator's process.
};

/// The evaluations of a job: none, one, or several, `{{.input = test}, {.input = train.take(5000), .name = "train"}}`.
/// Each evaluates every checkpoint that its own throttle admits; those with `waits` hold training until all are done.
class TROUPE_API eval_specs {
 public:
  eval_specs();
  eval_specs(eval_spec one);  // NOLINT(google-explicit-constructor): one is what most jobs have.
  eval_specs(std::initializer_list<eval_spec> several);
  eval_specs(std::vector<eval_spec> several);       // NOLINT(google-explicit-constructor)
  eval_specs(const std::optional<eval_spec>& one);  // NOLINT(google-explicit-constructor)
  const std::vector<eval_spec>& all() const noexcept { return all_; }

 private:
  std::vector<eval_spec> all_;
};

/// Trains from the newest checkpoint of the model directory, or from initial values if there is none. invalid_argument
/// for invalid options, before anything is built; otherwise the job's own error. If the newest checkpoint is already at
/// max_steps, no model is built and no hook is called; `train_result::remark` says so.
TROUPE_API expected<train_result> train(const estimator& e, const train_spec& training);
/// Evaluates a checkpoint, by default the newest; without any checkpoint, the newest means freshly initialised
/// variables. The metrics are also written to "eval" or "eval_<name>" in the model directory; a failed write is a
/// warning in the result. not_found: `which` names another checkpoint that does not exist.
TROUPE_API expected<evaluation_result> evaluate(const estimator& e, const eval_spec& evaluation,
                                                const checkpoint_ref& which = {});
/// Trains as `train` does, and evaluates checkpoints on the way and at the end. Needs checkpoints (invalid_argument).
/// In a cluster it does the part of this process; an evaluator needs no `training.input`.
TROUPE_API expected<train_result> train_and_evaluate(const estimator& e, const train_spec& training,
                                                     const eval_specs& evaluations);
TROUPE_API expected<train_result> train_and_evaluate(const estimator& e, const train_spec& training,
                                                     const eval_spec& evaluation);

/// Prints a result to standard output, its warnings to standard error, and returns 0; or an error there, with notes: 1.
TROUPE_API int print_error(const error& e);
TROUPE_API int print_result(const expected<train_result>& result);
TROUPE_API int print_result(const expected<evaluation_result>& result);

}  // namespace troupe
