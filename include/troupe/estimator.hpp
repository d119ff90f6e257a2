// The front door: a model with its run configuration, and what can be done with it.
//
//   auto estimator = tr::estimator{tr::dnn_classifier({...}), {.model_dir = "runs/fashion"}};
//   auto result = tr::train_and_evaluate(estimator, {.input = train, .max_steps = 3000}, {.input = test});
//
// These calls start a job (job.hpp), wait for it and return what it returned. They may be used from any thread; two at
// once need two model directories.
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/hook.hpp>
#include <troupe/model.hpp>
#include <troupe/run_config.hpp>
#include <troupe/warm_start.hpp>

namespace troupe {

struct estimator {
  troupe::model model = {};
  run_config config = {};
  std::optional<warm_start_settings> warm_start = {};  ///< What variables begin with where there is no checkpoint; none: initial values.
};

struct train_spec {
  dataset input = {};
  std::optional<int64_t> max_steps = {};  ///< Absolute: a job that is already at this step trains nothing.
  std::optional<int64_t> steps = {};      ///< Relative to where the job starts. Not together with max_steps.
  std::optional<int64_t> epochs = {};     ///< Passes over the source; with max_steps too, the earlier wins.
  std::vector<std::shared_ptr<hook>> hooks = {};
};

/// When an evaluation takes place beside training.
enum class evaluation_mode : uint8_t {
  waits,   ///< Training stands still meanwhile, as the Estimator's local driver does.
  beside,  ///< On the newest commit, under a lease; superseded ones are skipped, the last one never.
};

/// When an evaluation beside training fails, dies or is not done in time.
enum class failure_policy : uint8_t {
  fail,   ///< The state is saved, and the job fails.
  go_on,  ///< A warning. Training goes on, without further evaluations if the evaluator itself is gone.
};

struct eval_spec {
  dataset input = {};
  std::optional<int64_t> steps = {};  ///< Batches; all of the data when absent.
  std::string name = {};              ///< Results go to "eval" or "eval_<name>".
  double throttle_secs = 600;         ///< Least time between the starts of two evaluations; the last one is exempt.
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_evaluator_failure = failure_policy::fail;  ///< Only beside training.
};

struct train_result {
  int64_t global_step = 0;
  int64_t steps_run = 0;                  ///< Steps made by this call.
  std::map<std::string, double> metrics;  ///< Metrics of the last evaluation; without one, the last loss.
  double seconds = 0;
  bool stopped = false;                   ///< Stopped on request, before its end.
  std::string checkpoint;                 ///< Prefix of the last commit, if any.
  std::string remark;                     ///< Why nothing was trained, or that the data ended early.
};

struct evaluation_result {
  int64_t global_step = 0;
  std::map<std::string, double> metrics;  ///< With `loss` (mean over batches) and `global_step`.
  int64_t batches = 0;
  double seconds = 0;
  std::string checkpoint;                 ///< Empty: freshly initialised variables.
  std::vector<std::string> warnings = {}; ///< The event file could not be written.
};

/// invalid_argument for invalid options, before anything is built; otherwise the job's own error. If the newest
/// checkpoint is already at max_steps, no model is built and hooks are not called: the result says so.
TROUPE_API expected<train_result> train(const estimator& e, const train_spec& training);
/// Evaluates the newest checkpoint, or the newest one at `step`. The metrics also go to the event files of "eval" or
/// "eval_<name>" in the model directory; a failure to write there is a warning in the result. not_found when `step` is
/// given and absent.
TROUPE_API expected<evaluation_result> evaluate(const estimator& e, const eval_spec& evaluation, std::optional<int64_t> step = {});
TROUPE_API expected<train_result> train_and_evaluate(const estimator& e, const train_spec& training, const eval_spec& evaluation);

/// Prints a result or an error, with its notes, to standard output or standard error; returns main's exit status.
TROUPE_API int report(const error& e);
TROUPE_API int report(const expected<train_result>& result);
TROUPE_API int report(const expected<evaluation_result>& result);

}  // namespace troupe
