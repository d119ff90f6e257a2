// troupe evaluate: prints the metrics of one checkpoint.
#include "cli/commands/commands.hpp"
#include "cli/configuration/job_setup.hpp"

#include <fmt/format.h>

namespace troupe::cli {

int evaluate(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals) {
  // A signal may end an evaluation at any point: nothing is written before its end, and an event file is readable up to
  // its last whole record.
  end_at_first(signals, console, "before the evaluation had a result");
  const auto given = load_settings(line);
  if (!given)
    return failure(*console, given.error(), misuse_if(is_misuse(given.error())));
  auto setup = make_job_setup(*given, job_purpose::evaluating);
  if (!setup)
    return usage_failure(*console, setup.error());
  const auto which = checkpoint_of(line);
  if (!which)
    return usage_failure(*console, which.error());
  if (auto taken = take_winner(*setup, *which); !taken)
    return failure(*console, taken.error(), misuse_if(taken.error().category == errc::invalid_argument));
  const auto evaluation = find_evaluation(*setup, line.evaluation);
  if (!evaluation)
    return usage_failure(*console, evaluation.error());
  const auto data = open_test_data(*setup, *evaluation);
  if (!data)
    return failure(*console, with_origin(data.error(), line));
  console->name_classes(setup->estimator.model);
  const auto spec = make_eval_spec(*evaluation, *data);
  auto result = troupe::evaluate(setup->estimator, spec, *which);
  signals.at_first({});
  // Without a checkpoint the library evaluates fresh variables. A user who names a directory here wants its contents,
  // or those of a warm start, so this is an error.
  if (result && result->checkpoint.empty() && !setup->estimator.warm_start)
    result = fail(errc::not_found, fmt::format("{} has no checkpoint to evaluate", *setup->estimator.config.model_dir));
  if (!result && which->what == checkpoint_ref::kind::step && result.error().category == errc::not_found)
    result = fail({errc::not_found,
                   fmt::format("{} has no checkpoint of step {}", *setup->estimator.config.model_dir, which->step),
                   {result.error().message}});
  if (!result)
    return failure(*console, result.error(),
                   misuse_if(result.error().category == errc::invalid_argument && result.error().source.empty()));
  for (const auto& warning : result->warnings)
    console->warn(warning, result->global_step);
  console->finish(*result);
  return succeeded;
}

}  // namespace troupe::cli
