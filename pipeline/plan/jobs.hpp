// The three kinds of job, as the front door settles them: each policy has its value, and nothing is resolved again below.
#pragma once

#include "actors/chief/deadlines.hpp"
#include "actors/hook_turns.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/plan/prediction_choice.hpp"
#include "storage/files/file_system.hpp"
#include "words/settled_config.hpp"

#include <troupe/estimator.hpp>
#include <troupe/hook.hpp>

#include <variant>

namespace troupe {

/// What a job of any kind has.
struct job_basis {
  std::shared_ptr<const model> source;
  settled_config config;
  chief_deadlines deadlines = {};
  std::shared_ptr<file_system> files = posix_file_system();  ///< Never null.
};

/// What is evaluated, beside a training or alone.
struct evaluation_data {
  dataset input;
  std::optional<int64_t> steps = {};   ///< Batches; all of the data when absent.
  std::string folder = "eval";         ///< Of its event file, in the model directory.
};

/// Evaluations beside a training.
struct evaluation_policy {
  evaluation_data data;
  double throttle_secs = 600;
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_evaluator_failure = failure_policy::fail;
};

struct training_job {
  job_basis basis;
  dataset input;
  int32_t hosts = 1;
  std::optional<int64_t> max_steps = {}, steps = {};  ///< The earlier one ends it; neither: the end of the data does.
  std::optional<evaluation_policy> evaluation = {};
  std::vector<std::shared_ptr<hook>> hooks = {};
  std::shared_ptr<hook> log = {};      ///< Hears of events whatever thread hooks are called on; may be null.
  std::shared_ptr<hook_turns> turns = std::make_shared<hook_turns>();
};

struct evaluation_job {
  job_basis basis;
  evaluation_data data;
  std::optional<int64_t> step = {};    ///< Of the checkpoint; absent: the newest.
};

struct prediction_job {
  job_basis basis;
  dataset input;
  prediction_choice choice = {};
  std::optional<int64_t> step = {};    ///< Of the checkpoint; absent: the newest.
  int64_t batches_ahead = 16;
};

using any_job = std::variant<training_job, evaluation_job, prediction_job>;
const job_basis& basis_of(const any_job& job) noexcept;

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
expected<planned_job> plan_of(const any_job& job);

}  // namespace troupe
