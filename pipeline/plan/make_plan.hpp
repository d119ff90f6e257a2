// Makes the plan of a job of one model.
#pragma once

#include "plan/plan.hpp"

namespace troupe {

/// An evaluation in a plan: its name, which may be empty, and its dataset as text.
struct plan_evaluation {
  std::string name, dataset;
};

/// The options of a plan for a job of one model.
struct plan_options {
  int32_t hosts = 1;                          ///< Each has one infeed; replicas are spread over them evenly.
  int32_t replicas = 1;
  bool checkpoints = true;
  bool summaries = false;
  bool eval_summaries = false;
  bool hooks = false;
  std::string program;
  std::optional<std::string> dataset = {};         ///< For a job that trains.
  std::vector<plan_evaluation> evaluations = {};   ///< For a job that evaluates, beside training or alone.
  std::optional<std::string> predict_dataset = {};
};
/// invalid_argument if replicas cannot be spread over the hosts evenly.
expected<job_plan> make_plan(const plan_options& options);

}  // namespace troupe
