// The cluster of the process, joined with what a command line configures.
#pragma once

#include "cli/configuration/command_line.hpp"
#include "cli/configuration/job_setup.hpp"

namespace troupe::cli {

/// The cluster that --tf-config names, or else the environment variable TF_CONFIG. invalid_argument; not_found: there
/// is no such file.
expected<cluster> cluster_of(const command_line& line);

/// As without a cluster; the model directory of the cluster counts if the line gives none.
expected<settings> load_settings(const command_line& line, const cluster& c);

/// Makes the setup's estimator that of the cluster's task, and describes the task. invalid_argument: estimator and
/// cluster name two model directories.
expected<task_description> join(job_setup& setup, const cluster& c);

/// The specs of a training and of its evaluations, with the data that one process reads.
struct opened_data {
  train_spec training{.input = dataset{nullptr}};
  std::vector<eval_spec> evaluations = {};
  std::optional<int64_t> epoch_steps = {};                 ///< If it is known.
  std::map<std::string, int64_t> evaluation_batches = {};  ///< By the name of the evaluation, where it is known.
};
/// Opens the data that the task reads, and no others.
expected<opened_data> open_data(const job_setup& setup, const task_description& task);

}  // namespace troupe::cli
