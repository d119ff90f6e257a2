// The front door: a model with its run configuration, and what can be done with it.
// Read it to begin with.
//
//   auto estimator = tr::estimator{tr::dnn_classifier({...}), {.model_dir = "runs/fashion"}};
//   auto result = tr::train_and_evaluate(estimator, {.input = train, .max_steps = 3000}, {.input = test});
//
// These calls start a job (job.hpp), wait for it and return what it returned. They may be used from any thread; two at
// once need two model directories.
#pragma once

#include <troupe/checkpoint_ref.hpp>
#include <troupe/dataset.hpp>
#include <troupe/early_stopping.hpp>
#include <troupe/exporter.hpp>
#include <troupe/hook.hpp>
#include <troupe/model.hpp>
#include <troupe/results.hpp>
#include <troupe/run_config.hpp>
#include <troupe/saving_listener.hpp>
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
  /// After training for so many seconds, pauses not counted, the job saves and stops; started again, it goes on.
  std::optional<double> max_secs = {};
  std::vector<std::shared_ptr<hook>> hooks = {};
  std::vector<std::shared_ptr<saving_listener>> saving_listeners = {};  ///< Need checkpoints; one that is given twice counts once.
  std::vector<stop_rule> stop_early = {};  ///< Need an evaluation; the first rule that applies ends the job.
  std::optional<troupe::keep_best> keep_best = {};
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
  std::string name = {};              ///< Results go to "eval" or "eval_<name>". The names of a job's evaluations differ.
  double start_delay_secs = 0;        ///< No evaluation begins before; the last one is exempt. The Estimator's default is 120.
  double throttle_secs = 600;         ///< Least time between the starts of two evaluations; the last one is exempt.
  /// Before the first step of a new job so many batches are evaluated, so that data or metrics that cannot work fail then. The result is
  /// neither told nor written. 0: none.
  int64_t sanity_batches = 2;
  /// Evaluates the variables as they stand at every multiple of so many steps that is not saved, too, whatever the throttle: there is no
  /// checkpoint then, and no exporter runs. Only where training waits for it.
  std::optional<int64_t> every_steps = {};
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Called for the batches of each evaluation, but not of `sanity_batches`.
  /// Run in their order after an evaluation, while its checkpoint is held; those of the rule `final` at the end of a job that has reached
  /// max_steps or was ended by a rule. The features of `exports_like`, or of `input`, say what an exported model is fed.
  std::vector<exporter> exporters = {};
  export_options exports_like = {};
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_evaluator_failure = failure_policy::fail;  ///< Only beside training.
};

/// The evaluations of a job: none, one, or several, `{{.input = test}, {.input = train.take(5000), .name = "train"}}`. Each
/// evaluates every checkpoint that its own throttle admits; those with `waits` hold training until all of them are done.
class eval_specs {
 public:
  eval_specs() = default;
  eval_specs(eval_spec one) : all_{std::move(one)} {}                                              // NOLINT(google-explicit-constructor)
  eval_specs(std::initializer_list<eval_spec> several) : all_(several) {}
  eval_specs(std::vector<eval_spec> several) : all_(std::move(several)) {}                         // NOLINT(google-explicit-constructor)
  eval_specs(const std::optional<eval_spec>& one) { one ? all_.push_back(*one) : void(); }         // NOLINT(google-explicit-constructor)
  const std::vector<eval_spec>& all() const noexcept { return all_; }

 private:
  std::vector<eval_spec> all_;
};

/// invalid_argument for invalid options, before anything is built; otherwise the job's own error. If the newest
/// checkpoint is already at max_steps, no model is built and hooks are not called: the result says so.
TROUPE_API expected<train_result> train(const estimator& e, const train_spec& training);
/// Evaluates a checkpoint. The metrics also go to the event files of "eval" or "eval_<name>" in the model directory; a failure to write there is a
/// warning in the result. Where there is no checkpoint at all, the newest is freshly initialised variables. not_found: any other that is absent.
TROUPE_API expected<evaluation_result> evaluate(const estimator& e, const eval_spec& evaluation, const checkpoint_ref& which = {});
TROUPE_API expected<train_result> train_and_evaluate(const estimator& e, const train_spec& training, const eval_specs& evaluations);
inline expected<train_result> train_and_evaluate(const estimator& e, const train_spec& training, const eval_spec& evaluation) {
  return train_and_evaluate(e, training, eval_specs{evaluation});
}

/// Prints a result or an error, with its notes, to standard output or standard error; returns main's exit status.
TROUPE_API int report(const error& e);
TROUPE_API int report(const expected<train_result>& result);
TROUPE_API int report(const expected<evaluation_result>& result);

}  // namespace troupe
