#include "estimator/describe.hpp"

#include "input/streams/open_input.hpp"
#include "models/model_spec.hpp"

#include <troupe/spec_fields.hpp>

#include <algorithm>

namespace troupe {

namespace {

expected<job_basis> settled_basis(const estimator& e) {
  auto source = checked(e.model);
  if (!source)
    return fail(source.error());
  auto config = resolve_config(e.config);
  if (!config)
    return fail(config.error());
  job_basis basis{.source = std::move(*source), .config = std::move(*config)};
  if (e.warm_start) {
    if (auto valid = validate(*e.warm_start); !valid)
      return fail(valid.error());
    basis.start = std::make_shared<const warm_start_settings>(*e.warm_start);
  }
  return basis;
}

expected<evaluation_data> data_of(const eval_spec& evaluation) {
  if (auto valid = check_fields(evaluation, "evaluation: "); !valid)
    return fail(valid.error());
  if (evaluation.name.find('/') != std::string::npos)
    return fail(errc::invalid_argument, "the name of an evaluation becomes part of a directory's: '" + evaluation.name + "' has a slash");
  return evaluation_data{evaluation.input, evaluation.steps, evaluation.name.empty() ? "eval" : "eval_" + evaluation.name};
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

expected<training_job> describe(const estimator& e, const train_spec& training, const std::optional<eval_spec>& evaluation) {
  auto basis = settled_basis(e);
  if (!basis)
    return fail(basis.error());
  if (training.steps && training.max_steps)
    return fail(errc::invalid_argument, "steps (" + std::to_string(*training.steps) + ") and max_steps ("
                                          + std::to_string(*training.max_steps) + ") cannot both be given");
  if (auto valid = check_fields(training); !valid)
    return fail(valid.error());
  for (size_t i = 0; i < training.hooks.size(); ++i)
    if (!training.hooks[i])
      return fail(errc::invalid_argument, "hooks[" + std::to_string(i) + "] of the training is null; leave it out");
  training_job job{.basis = std::move(*basis), .input = training.input, .max_steps = training.max_steps, .steps = training.steps, .hooks = training.hooks};
  if (training.epochs) {
    auto end = steps_of_epochs(training.input, *training.epochs);
    if (!end)
      return fail(end.error());
    job.max_steps = std::min(job.max_steps.value_or(INT64_MAX), *end);
  }
  if (!evaluation)
    return job;
  auto data = data_of(*evaluation);
  if (!data)
    return fail(data.error());
  if (!job.basis.config.saves())
    return fail(errc::invalid_argument, "an evaluation beside training needs checkpoints: give a model_dir, and a "
                                        "save_checkpoints_steps or save_checkpoints_secs that is not none");
  job.evaluation = evaluation_policy{std::move(*data), evaluation->throttle_secs, evaluation->when, evaluation->on_evaluator_failure};
  return job;
}

expected<evaluation_job> describe(const estimator& e, const eval_spec& evaluation, std::optional<int64_t> step) {
  auto basis = settled_basis(e);
  if (!basis)
    return fail(basis.error());
  auto data = data_of(evaluation);
  if (!data)
    return fail(data.error());
  if (auto valid = check_option("evaluation: step", step, field_range::at_least(0)); !valid)
    return fail(valid.error());
  return evaluation_job{std::move(*basis), std::move(*data), step};
}

expected<prediction_job> describe(const estimator& e, const predict_spec& prediction) {
  auto basis = settled_basis(e);
  if (!basis)
    return fail(basis.error());
  if (auto valid = check_fields(prediction, "prediction: "); !valid)
    return fail(valid.error());
  for (size_t i = 0; i < prediction.keys.size(); ++i)
    if (std::count(prediction.keys.begin(), prediction.keys.end(), prediction.keys[i]) > 1)
      return fail(errc::invalid_argument, "the key '" + prediction.keys[i] + "' is given twice");
  return prediction_job{.basis = std::move(*basis),
                        .input = prediction.input,
                        .choice = {.keys = prediction.keys, .single_examples = prediction.single_examples},
                        .step = prediction.step,
                        .batches_ahead = prediction.batches_ahead};
}

}  // namespace troupe
