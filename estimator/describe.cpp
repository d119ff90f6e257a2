#include "estimator/describe.hpp"

#include "cluster/task_duties.hpp"
#include "exports/surroundings.hpp"
#include "input/streams/open_input.hpp"
#include "input/streams/refused.hpp"
#include "models/model_spec.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "words/text.hpp"

#include <troupe/options/spec_fields.hpp>

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

/// `what` and `whose` are for the message, such as "hooks" and "the training".
template <class T>
expected<void> none_is_null(const std::vector<std::shared_ptr<T>>& all, std::string_view what,
                            const std::string& whose) {
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i])
      return fail(errc::invalid_argument,
                  std::string{what} + "[" + std::to_string(i) + "] of " + whose + " is null; leave it out");
  return {};
}

/// Whether this process can do its part of the job so far.
expected<void> check_cluster(const cluster& c, bool evaluates) {
  if (auto may = evaluates ? may_train_and_evaluate(c) : may_train(c); !may)
    return may;
  const auto task = describe_task(c);
  if (!task)
    return fail(task.error());
  const auto workers = c.jobs.find("worker");
  const size_t listed = workers == c.jobs.end() ? 0 : workers->second.size();
  if (task->kind == task_kind::worker || task->kind == task_kind::other || (task->is_chief && listed > 0))
    return fail(errc::unimplemented, "task " + std::to_string(c.task.index) + " of the type "
                                         + troupe::quoted(c.task.type) + " cannot run yet: "
                                         + (task->is_chief ? "its cluster lists workers (" + joined(workers->second)
                                                                 + "), and training by several processes needs nodes"
                                                           : "training by several processes needs nodes"));
  return {};
}

/// `alone`: not beside a training.
expected<evaluation_data> data_of(const eval_spec& evaluation, const settled_config& config, bool alone) {
  if (auto valid = check_fields(evaluation, "evaluation: "); !valid)
    return fail(valid.error());
  if (const auto wrong = wrong_in_file_name(evaluation.name); !wrong.empty())
    return fail(errc::invalid_argument, "the name of an evaluation becomes part of a directory's: "
                                            + troupe::quoted(printable(evaluation.name)) + " " + wrong);
  if (auto whole = none_is_null(evaluation.hooks, "hooks", "an evaluation"); !whole)
    return fail(whole.error());
  const int64_t usual = alone || evaluation.when == evaluation_mode::waits ? config.replicas : 1;
  return evaluation_data{.input = evaluation.input,
                         .steps = evaluation.steps,
                         .name = evaluation.name,
                         .hooks = evaluation.hooks,
                         .replicas = static_cast<int32_t>(evaluation.replicas.value_or(usual))};
}

expected<chosen_checkpoint> chosen_by(const checkpoint_ref& which) {
  if (auto valid = validate(which); !valid)
    return fail(valid.error());
  chosen_checkpoint chosen{choice_of(which)};
  if (which.what == checkpoint_ref::kind::path)
    chosen.directory = parent_of(which.path);
  return chosen;
}

}  // namespace

exporting exporting_of(const estimator& e, const eval_spec& spec) {
  if (spec.exporters.empty())
    return {};
  auto how = spec.exports_like;
  if (how.features.empty() && how.input.last_stage() == input::absent())
    how.input = spec.input;
  return [e, how, exporters = spec.exporters](const export_surroundings& in,
                                              const export_occasion& now) -> expected<std::vector<std::string>> {
    std::vector<std::string> paths;
    for (const auto& x : exporters) {
      auto path = now.is_final == (x.rule == export_rule::final) ? run_exporter(in, x, e, how, now)
                                                                 : expected<std::optional<std::string>>{};
      if (!path)
        return fail(path.error());
      paths.push_back(path->value_or(""));
    }
    return paths;
  };
}

expected<int64_t> steps_of_epochs(const dataset& input, int64_t epochs, int64_t batches_a_step) {
  // `elements` counts one epoch of the stage; below an endless repeat, one epoch of its source.
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
  if (steps < batches_a_step)
    return fail(errc::out_of_range, "the dataset has " + std::to_string(steps) + " batches in " + std::to_string(epochs)
                                        + " epochs, and a step takes " + std::to_string(batches_a_step));
  return steps / batches_a_step;
}

namespace {

/// The evaluations of a job that follow from their specs.
expected<std::vector<evaluation_policy>> policies_of(const estimator& e, const settled_config& config,
                                                     const eval_specs& evaluations) {
  std::vector<evaluation_policy> policies;
  for (const auto& spec : evaluations.all()) {
    auto data = data_of(spec, config, false);
    if (!data)
      return fail(data.error());
    if (!config.saves())
      return fail(errc::invalid_argument,
                  "an evaluation beside training needs checkpoints: give a model_dir, and a "
                  "save_checkpoints_steps or save_checkpoints_secs that is not none");
    for (const auto& other : policies)
      if (other.data.name == spec.name)
        return fail(errc::invalid_argument, "two evaluations have "
                                                + (spec.name.empty() ? "no name" : "the name '" + spec.name + "'")
                                                + ": give each a name of its own, which its results go by");
    if (spec.every_steps && spec.when == evaluation_mode::beside)
      return fail(errc::invalid_argument, "evaluation: every_steps (" + std::to_string(*spec.every_steps)
                                              + ") is for evaluations that training waits for, and when is beside");
    if (auto right = spec.exporters.empty() ? expected<void>{} : check_words(e, spec.exports_like); !right)
      return fail(right.error());
    if (auto valid = validate(spec.exporters); !valid)
      return fail(valid.error());
    auto exports = exporting_of(e, spec);
    const bool at_end = std::any_of(spec.exporters.begin(), spec.exporters.end(),
                                    [](const exporter& x) { return x.rule == export_rule::final; });
    policies.push_back({std::move(*data), std::move(exports), at_end, spec.start_delay_secs, spec.throttle_secs,
                        spec.sanity_batches, spec.every_steps, spec.when, spec.on_evaluator_failure});
  }
  return policies;
}

/// What hooks and exporters compare, so that a name that no evaluation has is found before training, not after hours of
/// it.
std::vector<asked_metric> asked_by(std::span<const std::shared_ptr<hook>> hooks, const eval_specs& evaluations) {
  std::vector<asked_metric> asked;
  for (const auto& h : hooks)
    if (const auto goal = goal_of_plateau(*h))
      asked.push_back({"reduce_on_plateau", goal->evaluation, goal->metric});
  for (const auto& spec : evaluations.all())
    for (const auto& x : spec.exporters)
      if (x.rule == export_rule::best && !x.better)
        asked.push_back({"the exporter '" + x.name + "'", spec.name, x.goal.metric});
  return asked;
}

/// A chief trains, and an evaluator in another process evaluates.
bool leaves_evaluations(const estimator& e) {
  if (!e.cluster)
    return false;
  const auto task = describe_task(*e.cluster);
  return task && task->kind == task_kind::chief;
}

}  // namespace

bool follows_a_chief(const estimator& e) {
  if (!e.cluster)
    return false;
  const auto task = describe_task(*e.cluster);
  return task && (task->kind == task_kind::evaluator || task->kind == task_kind::parameter_server);
}

expected<training_job> describe(const estimator& e, const train_spec& training, const eval_specs& evaluations) {
  if (e.cluster)
    if (auto right = check_cluster(*e.cluster, !evaluations.all().empty()); !right)
      return fail(right.error());
  auto basis = settled_basis(e);
  if (!basis)
    return fail(basis.error());
  if (training.steps && training.max_steps)
    return fail(errc::invalid_argument, "steps (" + std::to_string(*training.steps) + ") and max_steps ("
                                            + std::to_string(*training.max_steps) + ") cannot both be given");
  if (auto valid = check_fields(training); !valid)
    return fail(valid.error());
  if (auto whole = none_is_null(training.hooks, "hooks", "the training"); !whole)
    return fail(whole.error());
  if (auto whole = none_is_null(training.saving_listeners, "saving_listeners", "the training"); !whole)
    return fail(whole.error());
  if (!training.saving_listeners.empty() && !basis->config.saves())
    return fail(errc::invalid_argument,
                "saving_listeners need checkpoints: give a model_dir, and a save_checkpoints_steps or "
                "save_checkpoints_secs that is not none");
  training_job job{.basis = std::move(*basis),
                   .input = training.input,
                   .max_steps = training.max_steps,
                   .steps = training.steps,
                   .hooks = training.hooks,
                   .saving_listeners = training.saving_listeners};
  for (const auto& rule : training.stop_early)
    if (auto valid = validate(rule); !valid)
      return fail(valid.error());
  if (training.keep_best && training.keep_best->goal.metric.empty())
    return fail(errc::invalid_argument, "keep_best: there is no metric");
  job.stop_early = training.stop_early;
  job.keep_best = training.keep_best;
  job.max_secs = training.max_secs;
  job.continue_input = training.continue_input;
  job.input_changed = training.input_changed;
  if (training.epochs) {
    const auto& config = job.basis.config;
    const bool one_each = config.input_mode == input_mode::per_core || config.input_mode == input_mode::per_replica;
    auto end = steps_of_epochs(training.input, *training.epochs, one_each ? config.replicas : 1);
    if (!end)
      return fail(end.error());
    job.max_steps = std::min(job.max_steps.value_or(INT64_MAX), *end);
  }
  auto policies = policies_of(e, job.basis.config, evaluations);
  if (!policies)
    return fail(policies.error());
  job.judged_elsewhere = leaves_evaluations(e) && !policies->empty();
  if (!job.judged_elsewhere) {
    job.evaluations = std::move(*policies);
    job.asked = asked_by(training.hooks, evaluations);
    return job;
  }
  for (const auto& h : training.hooks)
    if (goal_of_plateau(*h))
      return fail(errc::invalid_argument,
                  "reduce_on_plateau holds a job at its evaluations, and a chief leaves them to an evaluator: run as "
                  "master");
  for (const auto& policy : *policies)
    if (policy.every_steps)
      return fail(errc::invalid_argument,
                  "evaluation: every_steps (" + std::to_string(*policy.every_steps)
                      + ") is for a job that evaluates itself, and a chief leaves that to an evaluator: run as master");
  return job;
}

expected<follower_job> describe_follower(const estimator& e, const train_spec& training,
                                         const eval_specs& evaluations) {
  if (auto may = may_train_and_evaluate(*e.cluster); !may)
    return fail(may.error());
  auto basis = settled_basis(e);
  if (!basis)
    return fail(basis.error());
  const bool evaluates = describe_task(*e.cluster).value().evaluates;
  if (!basis->config.model_dir)
    return fail(errc::invalid_argument,
                "model_dir must be given: the " + e.cluster->task.type + " follows the checkpoints of the chief there");
  if (evaluates && evaluations.all().empty())
    return fail(errc::invalid_argument, "an evaluator needs an evaluation, and there is none");
  if (auto whole = none_is_null(training.hooks, "hooks", "the training"); !whole)
    return fail(whole.error());
  follower_job job{.basis = std::move(*basis), .hooks = training.hooks};
  job.max_steps = training.max_steps;
  job.ends_by_epochs = training.epochs.has_value();  // The chief's data are not opened here.
  const auto in_ms = [](double secs) {
    return std::chrono::milliseconds{static_cast<int64_t>(std::min(secs, 3e8) * 1000)};
  };
  job.first_commit_within = in_ms(e.config.session_creation_timeout_secs);
  job.chief_within = in_ms(e.config.chief_wait_secs);
  if (!evaluates)
    return job;
  auto policies = policies_of(e, job.basis.config, evaluations);
  if (!policies)
    return fail(policies.error());
  job.evaluations = std::move(*policies);
  job.asked = asked_by(training.hooks, evaluations);
  for (const auto& spec : evaluations.all())
    job.listeners.push_back(spec.listener);
  for (const auto& rule : training.stop_early)
    if (auto valid = validate(rule); !valid)
      return fail(valid.error());
  job.stop_early = training.stop_early;
  job.keep_best = training.keep_best;
  return job;
}

expected<evaluation_job> describe(const estimator& e, const eval_spec& evaluation, const checkpoint_ref& which) {
  auto basis = settled_basis(e);
  if (!basis)
    return fail(basis.error());
  auto data = data_of(evaluation, basis->config, true);
  if (!data)
    return fail(data.error());
  auto checkpoint = chosen_by(which);
  if (!checkpoint)
    return fail(checkpoint.error());
  return evaluation_job{std::move(*basis), std::move(*data), std::move(*checkpoint)};
}

expected<prediction_job> describe(const estimator& e, const predict_spec& prediction) {
  auto basis = settled_basis(e);
  if (!basis)
    return fail(basis.error());
  if (auto valid = check_fields(prediction, "prediction: "); !valid)
    return fail(valid.error());
  if (auto whole = none_is_null(prediction.hooks, "hooks", "the prediction"); !whole)
    return fail(whole.error());
  for (size_t i = 0; i < prediction.keys.size(); ++i)
    if (std::count(prediction.keys.begin(), prediction.keys.end(), prediction.keys[i]) > 1)
      return fail(errc::invalid_argument, "the key '" + prediction.keys[i] + "' is given twice");
  auto checkpoint = chosen_by(prediction.checkpoint);
  if (!checkpoint)
    return fail(checkpoint.error());
  return prediction_job{.basis = std::move(*basis),
                        .input = prediction.input,
                        .choice = {.keys = prediction.keys,
                                   .single_examples = prediction.single_examples,
                                   .bytes_below = prediction.batch_bytes_below},
                        .replicas = static_cast<int32_t>(prediction.replicas),
                        .checkpoint = std::move(*checkpoint),
                        .batches_ahead = prediction.batches_ahead,
                        .hooks = prediction.hooks};
}

}  // namespace troupe
