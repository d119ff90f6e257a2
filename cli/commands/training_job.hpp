// What `troupe train` and `troupe search` have in common: a job that is started, reported on, and stopped at the first
// signal.
#pragma once

#include "cli/commands/commands.hpp"
#include "cli/configuration/job_setup.hpp"

#include <troupe/inspect.hpp>

namespace troupe::cli {

/// What one of these commands starts.
struct training_job {
  job_purpose purpose = job_purpose::training;
  std::string_view name;  ///< In messages: "training".
  std::function<expected<job>(const job_setup& setup, const train_spec& training, const eval_specs& evaluations)> start;
  /// The graph that TensorBoard shows; called while the job runs. Empty: none.
  std::function<expected<graph_description>(const job_setup& setup, const dataset& input)> graph = {};
  /// A model with the head of the job, which knows what the classes are called.
  std::function<model(const job_setup& setup)> with_classes;
};

/// Adds a hook that keeps the record of the run, and reports what differs from the last run's. Nothing without a model
/// directory.
void keep_record(const command_line& line, const settings& given, const job_setup& setup, const training_job& what,
                 const std::shared_ptr<console_printer>& console, train_spec& training);
/// Runs the command: returns the exit status of main.
int run_training(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals,
                 const training_job& what);

}  // namespace troupe::cli
