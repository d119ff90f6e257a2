#include "estimator/describe.hpp"

#include "input/streams/open_input.hpp"
#include "models/model_spec.hpp"

#include <troupe/spec_fields.hpp>

#include <algorithm>

namespace troupe {

namespace {

expected<job_description> describe_model(const estimator& e) {
  auto source = checked(e.model);
  if (!source)
    return fail(source.error());
  if (auto valid = validate(e.config); !valid)
    return fail(valid.error());
  job_description job;
  job.source = std::move(*source);
  job.config = e.config;
  return job;
}

expected<void> add_evaluation(job_description& job, const eval_spec& evaluation) {
  if (auto valid = check_fields(evaluation, "evaluation: "); !valid)
    return valid;
  if (evaluation.name.find('/') != std::string::npos)
    return fail(errc::invalid_argument, "the name of an evaluation becomes part of a directory's: '" + evaluation.name + "' has a slash");
  job.eval_input = evaluation.input;
  job.eval_name = evaluation.name;
  job.eval_steps = evaluation.steps;
  job.throttle_secs = evaluation.throttle_secs;
  job.when = evaluation.when;
  job.on_evaluator_failure = evaluation.on_evaluator_failure;
  return {};
}

}  // namespace

expected<int64_t> steps_of_epochs(const dataset& input, int64_t epochs) {
  // `elements` counts one whole pass of the stage; below an endless repeat that is one pass of its source.
  const auto iterator = open_input(input, {.drop_remainder = true});
  if (!iterator)
    return fail(iterator.error());
  const auto text = text_of(input);
  if (!text)
    return fail(text.error());
  const auto known = examples_of(input);
  if (!known)
    return fail(known.error());
  const auto examples = *known;
  const int64_t rows = (*iterator)->batch_rows();
  if (!examples)
    return fail(errc::invalid_argument, "epochs cannot be counted: the size of " + *text + " is not known");
  int64_t steps = 0;
  if (__builtin_mul_overflow(epochs, *examples / rows, &steps))
    return fail(errc::invalid_argument, "epochs is too large: " + std::to_string(epochs));
  if (steps == 0)
    return fail(errc::out_of_range, "the dataset has no batches: an epoch of " + *text + " is shorter than one batch");
  return steps;
}

expected<job_description> describe(const estimator& e, const train_spec& training, const std::optional<eval_spec>& evaluation) {
  auto job = describe_model(e);
  if (!job)
    return job;
  if (training.steps && training.max_steps)
    return fail(errc::invalid_argument, "steps (" + std::to_string(*training.steps) + ") and max_steps ("
                                          + std::to_string(*training.max_steps) + ") cannot both be given");
  if (auto valid = check_fields(training); !valid)
    return fail(valid.error());
  for (size_t i = 0; i < training.hooks.size(); ++i)
    if (!training.hooks[i])
      return fail(errc::invalid_argument, "hooks[" + std::to_string(i) + "] of the training is null; leave it out");
  job->train_input = training.input;
  job->max_steps = training.max_steps;
  job->steps = training.steps;
  job->hooks = training.hooks;
  if (training.epochs) {
    auto end = steps_of_epochs(training.input, *training.epochs);
    if (!end)
      return fail(end.error());
    job->max_steps = std::min(job->max_steps.value_or(INT64_MAX), *end);
  }
  if (evaluation) {
    if (auto added = add_evaluation(*job, *evaluation); !added)
      return fail(added.error());
    if (!writes_checkpoints(*job))
      return fail(errc::invalid_argument, "an evaluation beside training needs checkpoints: give a model_dir, and a "
                                          "save_checkpoints_steps or save_checkpoints_secs that is not none");
  }
  return job;
}

expected<job_description> describe(const estimator& e, const eval_spec& evaluation) {
  auto job = describe_model(e);
  if (!job)
    return job;
  if (auto added = add_evaluation(*job, evaluation); !added)
    return fail(added.error());
  return job;
}

expected<job_description> describe(const estimator& e, const predict_spec& prediction) {
  auto job = describe_model(e);
  if (!job)
    return job;
  if (auto valid = check_fields(prediction, "prediction: "); !valid)
    return fail(valid.error());
  for (size_t i = 0; i < prediction.keys.size(); ++i)
    if (std::count(prediction.keys.begin(), prediction.keys.end(), prediction.keys[i]) > 1)
      return fail(errc::invalid_argument, "the key '" + prediction.keys[i] + "' is given twice");
  job->predict_input = prediction.input;
  job->predictions.keys = prediction.keys;
  job->predictions.single_examples = prediction.single_examples;
  job->predict_step = prediction.step.value_or(-1);
  job->batches_ahead = prediction.batches_ahead;
  return job;
}

}  // namespace troupe
