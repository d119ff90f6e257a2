// troupe experiment: runs one schedule of training and evaluation.
#include "cli/commands/training_job.hpp"
#include "cli/configuration/cluster_setup.hpp"
#include "cli/configuration/joined.hpp"

#include <troupe/experiment.hpp>
#include <troupe/options/experiment_fields.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace troupe::cli {

namespace {

/// Ends a training after a signal, with a last checkpoint.
class signal_stop final : public hook {
 public:
  explicit signal_stop(const signal_watch& signals) : signals_(signals) {}
  needs begin(int64_t step) override {
    training = true;
    return {.steps = {{.first = step, .every = 10}}};
  }
  void on_step(const step_facts&, job_control& job) override {
    if (signals_.first() != 0)
      job.stop();
  }
  void end(int64_t) override { training = false; }
  void on_abort(const error&) override { training = false; }

  std::atomic<bool> training{false};

 private:
  const signal_watch& signals_;
};

/// Shows the results of evaluations that are no part of a training.
class shown_evaluation final : public hook {
 public:
  shown_evaluation(std::shared_ptr<console_printer> console, std::string name)
    : console_(std::move(console)), name_(std::move(name)) {}
  void on_event(const job_event& e, job_control& job) override {
    if (e.what != job_event::kind::finished)
      return;
    auto evaluated = e;
    evaluated.what = job_event::kind::evaluated;
    evaluated.evaluation = name_;
    console_->on_event(evaluated, job);
  }

 private:
  std::shared_ptr<console_printer> console_;
  std::string name_;
};

/// invalid_argument: a key of training that no schedule looks at.
expected<void> check_keys(const settings& given, const job_setup& setup) {
  for (const std::string key : {"run.steps", "run.max_secs"})
    if (given.text(key).value_or("none") != "none")
      return fail(
          errc::invalid_argument,
          fmt::format("{}{} has no effect in an experiment: --max-steps says when to end", given.origin(key), key));
  if (!setup.training.stop_early.empty() || setup.training.keep_best)
    return fail(errc::invalid_argument,
                "[[stop_early]] and [keep_best] have no effect in an experiment: they belong to troupe train");
  return {};
}

/// The experiment with the data that the schedule reads.
expected<troupe::experiment> make_experiment(const settings& given, const job_setup& setup, schedule which) {
  const auto& evaluation = setup.evaluations.front();
  troupe::experiment made{.estimator = setup.estimator,
                          .train_steps = setup.training.max_steps,
                          .train_hooks = setup.training.hooks,
                          .exporters = evaluation.spec.exporters};
  given.read_fields("experiment.", made);
  const bool all_data = !evaluation.spec.steps && (given.has(evaluation.key + ".steps") || given.has("evaluate.steps"));
  if (evaluation.spec.steps || all_data)
    made.eval_steps = evaluation.spec.steps;
  const auto reads = data_of(which);
  if (reads.train || setup.training.epochs) {
    const auto data = open_training_data(setup);
    if (!data)
      return fail(data.error());
    made.train_data = make_train_spec(setup, *data).input;
    const auto steps = epoch_steps(setup, *data);
    if (setup.training.epochs && steps)
      made.train_steps = std::min(made.train_steps.value_or(INT64_MAX), *setup.training.epochs * *steps);
  }
  if (reads.eval) {
    const auto data = open_test_data(setup, evaluation);
    if (!data)
      return fail(data.error());
    made.eval_data = make_eval_spec(evaluation, *data).input;
  }
  return made;
}

/// The name under which a schedule evaluates by itself; empty: it does not, or its result is shown at the end.
std::string shown_name(schedule which) {
  return which == schedule::continuous_eval                 ? "continuous"
         : which == schedule::continuous_eval_on_train_data ? "continuous_on_train_data"
         : which == schedule::continuous_train_and_eval     ? "one_pass"
                                                            : "";
}

void show(console_printer& console, experiment_result result, int signal) {
  if (!result.training)
    return result.evaluation ? console.finish(*result.evaluation) : console.finish(evaluation_result{});
  auto& training = *result.training;
  if (result.evaluation) {
    training.metrics = std::move(result.evaluation->metrics);
    training.arrays = std::move(result.evaluation->arrays);
  }
  signal != 0 ? console.stop(training, signal_name(signal)) : console.finish(training);
}

}  // namespace

int experiment(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals) {
  const std::string before = "before the experiment had a result";
  end_at_first(signals, console, before);
  const auto here = cluster_of(line);
  if (!here)
    return usage_failure(*console, here.error());
  const auto which = line.schedule ? parse_schedule(*line.schedule) : default_schedule(*here);
  if (!which)
    return usage_failure(*console, which.error());
  const auto given = load_settings(line, *here);
  if (!given)
    return failure(*console, given.error(), misuse_if(is_misuse(given.error())));
  auto setup = make_job_setup(*given, job_purpose::training);
  if (!setup)
    return usage_failure(*console, setup.error());
  if (auto possible = check_keys(*given, *setup); !possible)
    return usage_failure(*console, possible.error());
  if (const auto task = join(*setup, *here); !task)
    return usage_failure(*console, task.error());
  auto made = make_experiment(*given, *setup, *which);
  if (!made)
    return failure(*console, with_origin(made.error(), line));

  const auto stopping = std::make_shared<signal_stop>(signals);
  train_spec training{.input = made->train_data, .hooks = {console, stopping}};
  if (data_of(*which).train && *which != schedule::continuous_eval_on_train_data)
    keep_record(line, *given, *setup,
                {.purpose = job_purpose::training,
                 .name = "experiment",
                 .start = {},
                 .with_classes = [](const job_setup& s) { return s.estimator.model; }},
                console, training);
  made->train_hooks.insert(made->train_hooks.end(), training.hooks.begin(), training.hooks.end());
  if (const auto name = shown_name(*which); !name.empty())
    made->eval_hooks.push_back(std::make_shared<shown_evaluation>(console, name));
  made->on_warning = [console](const std::string& text) { console->warn(text); };
  console->name_classes(setup->estimator.model);
  signals.at_first([&] {
    if (stopping->training)
      return;
    console->stop(before, signal_name(signals.first()));
    _exit(128 + signals.first());
  });
  const auto result = run_experiment(*made, *which);
  signals.at_first({});
  if (!result)
    return failure(*console, result.error(),
                   misuse_if(result.error().category == errc::invalid_argument && result.error().source.empty()));
  const auto& directory = setup->estimator.config.model_dir;
  if (*which == schedule::evaluate && result->evaluation->checkpoint.empty() && !setup->estimator.warm_start)
    return failure(*console, {errc::not_found, fmt::format("{} has no checkpoint to evaluate",
                                                           directory.value_or("an experiment without a model_dir"))});
  const int signal = signals.first();
  show(*console, *result, signal);
  return signal != 0 ? 128 + signal : succeeded;
}

}  // namespace troupe::cli
