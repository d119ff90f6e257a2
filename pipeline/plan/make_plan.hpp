// Makes the plan of a job that has one model.
#pragma once

#include "pipeline/plan/plan_maker.hpp"

namespace troupe {

/// The options of a plan for a job that has one model.
struct plan_options {
  int32_t hosts = 1;  ///< Replicas are spread evenly over the hosts.
  int32_t replicas = 1;
  troupe::input_mode input_mode = troupe::input_mode::per_host;  ///< Of training.
  /// Replicas reduce by messages to a reducer, with the same bits as in a collective. Replicas of several places must.
  bool reducers = false;
  bool checkpoints = true;
  bool summaries = false;
  bool eval_summaries = false;
  bool hooks = false;
  bool watches = false;  ///< The model directory, for what another process does there.
  std::string program;
  bool host_calls = false;                        ///< Whether the model has functions for host calls.
  std::optional<std::string> dataset = {};        ///< The dataset's text. For a job that trains.
  std::vector<plan_evaluation> evaluations = {};  ///< For a job that evaluates, alone or during training.
  std::optional<std::string> predict_dataset = {};
  dealt_over predicted_by = {};
};
/// Error: invalid_argument if the replicas cannot be spread evenly over the hosts.
expected<job_plan> make_plan(const plan_options& options);

}  // namespace troupe
