#include "cli/commands/training_job.hpp"

#include "cli/configuration/cluster_setup.hpp"
#include "cli/configuration/kept_settings.hpp"

#include <troupe/hooks.hpp>
#include <troupe/job_status.hpp>
#include <troupe/run_description.hpp>

#include <fmt/format.h>
#include <unistd.h>

namespace troupe::cli {

namespace {

using namespace std::chrono_literals;

expected<train_result> wait(job& running, console_printer& console) {
  for (;;) {
    auto result = running.wait_for(200ms);
    if (!result)
      return fail(std::move(result.error()));
    if (*result)
      return std::move(**result);
    console.redraw(running.progress());
  }
}

/// Before it has begun, nothing is trained, and reading a checkpoint changes nothing: there is nothing to save or to
/// wait for.
bool has_begun(const job_progress& of) {
  return of.now != job_progress::phase::starting && of.now != job_progress::phase::restoring;
}

/// Adds a hook that writes the trace that --trace asks for.
expected<void> keep_trace(const command_line& line, const std::shared_ptr<console_printer>& console,
                          train_spec& training) {
  const auto steps = trace_steps_of(line);
  if (!steps)
    return fail(steps.error());
  if (!line.trace)
    return {};
  auto traces = trace_steps({.file = *line.trace,
                             .first = steps->first,
                             .steps = steps->end - steps->first,
                             .warn = [console](const std::string& text) { console->warn(text); }});
  if (!traces)
    return fail(traces.error());
  training.hooks.push_back(std::move(*traces));
  return {};
}

}  // namespace

void keep_record(const command_line& line, const settings& given, const job_setup& setup, const training_job& what,
                 const std::shared_ptr<console_printer>& console, train_spec& training) {
  const auto& directory = setup.estimator.config.model_dir;
  if (!directory)
    return;
  run_description about{.record = record_of(given, line.arguments), .values = hyperparameters_of(given)};
  if (what.graph)
    about.graph = [graph = what.graph, setup, input = training.input] { return graph(setup, input); };
  const auto& evaluation = setup.evaluations.front().spec.name;
  about.evaluation = evaluation.empty() ? "eval" : "eval_" + evaluation;
  about.warn = [console](const std::string& text) { console->warn(text); };
  if (const auto before = read_run_record(*directory); before)
    console->changed(differences(*before, about.record));
  else if (before.error().category != errc::not_found)
    console->warn(fmt::format("{}: what the last run was configured with cannot be compared", before.error().message));
  training.hooks.push_back(describe_run(*directory, std::move(about)));
}

int run_training(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals,
                 const training_job& what) {
  const std::string before = fmt::format("before the {} began", what.name);
  end_at_first(signals, console, before);
  // Searches work alone.
  const auto here = what.purpose == job_purpose::training ? cluster_of(line) : expected<cluster>{cluster{}};
  if (!here)
    return usage_failure(*console, here.error());
  const auto given = load_settings(line, *here);
  if (!given)
    return failure(*console, given.error(), misuse_if(is_misuse(given.error())));
  auto setup = make_job_setup(*given, what.purpose);
  if (!setup)
    return usage_failure(*console, setup.error());
  const auto task = join(*setup, *here);
  if (!task)
    return usage_failure(*console, task.error());
  auto data = open_data(*setup, *task);
  if (!data)
    return failure(*console, with_origin(data.error(), line));

  auto& training = data->training;
  training.hooks.push_back(console);
  if (auto possible = task->trains ? keep_trace(line, console, training) : expected<void>{}; !possible)
    return usage_failure(*console, possible.error());
  const auto& directory = setup->estimator.config.model_dir;
  if (line.status && !directory)
    return usage_failure(*console, {errc::invalid_argument, "--status needs a model directory: give --model-dir"});
  if (task->trains)
    keep_record(line, *given, *setup, what, console, training);
  console->measure_by({.epoch_steps = data->epoch_steps,
                       .evaluation_batches = data->evaluation_batches,
                       .saves = setup->estimator.config.model_dir.has_value()});
  console->name_classes(what.with_classes(*setup));
  auto running = what.start(*setup, training, data->evaluations);
  if (!running)
    return failure(*console, running.error(), misuse_if(running.error().category == errc::invalid_argument));

  signals.at_first([&] {
    if (const auto now = running->progress(); has_begun(now)) {
      running->stop(stop_reason::signal);
      return console->stopping(now, signal_name(signals.first()));
    }
    console->stop(before, signal_name(signals.first()));
    _exit(128 + signals.first());
  });
  signals.at_pause([&](bool pause) { pause ? running->pause() : running->resume(); });
  std::optional<status_keeper> status;
  if (line.status && !task->trains)
    console->warn("--status is left out: the status of a directory is that of the job that trains there");
  else if (line.status)
    status.emplace(*running, *directory, std::chrono::seconds{1},
                   [console](const std::string& text) { console->warn(text); });
  auto result = wait(*running, *console);
  status.reset();
  signals.at_first({});
  signals.at_pause({});
  if (!result)
    return failure(*console, result.error());
  if (const int signal = signals.first(); signal != 0) {
    if (!task->trains)
      result->checkpoint.clear();  // It is the chief's: this process has saved nothing.
    console->stop(*result, signal_name(signal));
    return 128 + signal;
  }
  console->finish(*result);
  return succeeded;
}

}  // namespace troupe::cli
