// What a job is made of, as the front door says it, and what follows from that.
#pragma once

#include "actors/chief/deadlines.hpp"
#include "actors/hook_turns.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/plan/prediction_choice.hpp"
#include "storage/files/file_system.hpp"

#include <troupe/estimator.hpp>
#include <troupe/hook.hpp>

namespace troupe {

struct job_description {
  std::shared_ptr<const model> source;
  run_config config;
  std::optional<dataset> train_input;           ///< Absent: an evaluation or a prediction alone.
  std::optional<int64_t> max_steps, steps;
  std::optional<dataset> eval_input;
  std::optional<int64_t> eval_steps;
  std::string eval_name;                        ///< Its event file goes to "eval" or "eval_<name>".
  double throttle_secs = 600;
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_evaluator_failure = failure_policy::fail;
  std::optional<dataset> predict_input;
  prediction_choice predictions;
  int64_t predict_step = -1;                    ///< Of the checkpoint; negative: the newest.
  int64_t batches_ahead = 16;
  std::vector<std::shared_ptr<hook>> hooks;
  std::shared_ptr<hook> log;                    ///< Hears of events whatever thread hooks are called on; may be null.
  std::shared_ptr<hook_turns> turns = std::make_shared<hook_turns>();
  int32_t hosts = 1;
  chief_deadlines deadlines;
  std::shared_ptr<file_system> files;           ///< The disk when null.
};

/// Whether a job writes checkpoints: it has a model directory and something that triggers a save.
bool writes_checkpoints(const job_description& job);

/// Whether training keeps summaries, and whether its evaluations do.
bool keeps_summaries(const job_description& job);
bool keeps_eval_summaries(const job_description& job);

/// What a plan numbers: a model for each of its programs, a dataset for each of its datasets, in its order.
struct plan_resources {
  std::vector<std::shared_ptr<const model>> models;
  std::vector<dataset> datasets;
};
struct planned_job {
  job_plan plan;
  plan_resources resources;
};

/// The plan of a job of one model, and what it numbers. invalid_argument as `make_plan`.
expected<planned_job> plan_of(const job_description& job);

}  // namespace troupe
