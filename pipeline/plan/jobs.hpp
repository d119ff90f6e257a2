// The three kinds of job, with all settings resolved by the estimator: no layer below resolves a policy again.
#pragma once

#include "actors/chief/deadlines.hpp"
#include "actors/exporting.hpp"
#include "actors/hook_turns.hpp"
#include "pipeline/plan/prediction_choice.hpp"
#include "plan/plan.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/file_system.hpp"
#include "words/checkpoint_id.hpp"
#include "words/settled_config.hpp"
#include "words/stored_plan.hpp"

#include <troupe/estimator.hpp>
#include <troupe/hook.hpp>

#include <functional>
#include <variant>

namespace troupe {

/// The members that every kind of job has.
struct job_basis {
  std::shared_ptr<const model> source;
  settled_config config;
  std::shared_ptr<const warm_start_settings> start = {};    ///< Valid; null: variables begin with their initial values.
  chief_deadlines deadlines = {};
  std::shared_ptr<file_system> files = posix_file_system();  ///< Never null.
  int32_t processors = 1;                                    ///< Divided among replicas where `intra_op_threads` is automatic.
};

/// The data of an evaluation, beside training or alone.
struct evaluation_data {
  dataset input;
  std::optional<int64_t> steps = {};   ///< Number of batches; absent: until the end of the data.
  std::string name = {};               ///< Of its eval_spec.
  std::vector<std::shared_ptr<hook>> hooks = {};
  /// The folder of its event file, in the model directory.
  std::string folder() const { return name.empty() ? "eval" : "eval_" + name; }
};

/// An evaluation beside training.
struct evaluation_policy {
  evaluation_data data;
  exporting exports = {};              ///< Null: there are no exporters.
  bool exports_at_end = false;         ///< One of them is of the rule `final`.
  double start_delay_secs = 0;
  double throttle_secs = 600;
  int64_t sanity_batches = 2;
  std::optional<int64_t> every_steps = {};
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_evaluator_failure = failure_policy::fail;
};

struct planned_job;
/// The books of the checkpoint from which a training will begin: step, iteration, properties, positions. No tensor is read for them.
using job_books = std::optional<checkpoint_info>;
/// Makes the plan that a job's books want, with its resources. Called before the job starts, and again on a thread of its own whenever the newest
/// checkpoint wants another plan than the present one (`plan_iteration::goes_on_from`).
using job_planner = std::function<expected<planned_job>(const job_books&)>;

/// A checkpoint in a directory that need not be the model's.
struct chosen_checkpoint {
  checkpoint_choice which = {};
  std::optional<std::string> directory = {};  ///< Absent: the model's.
};

struct training_job {
  job_basis basis;
  dataset input;
  int32_t hosts = 1;
  std::optional<int64_t> max_steps = {}, steps = {};  ///< The earlier one ends the job; if both are absent, the end of the data does.
  std::vector<evaluation_policy> evaluations = {};
  std::vector<stop_rule> stop_early = {};
  std::optional<troupe::keep_best> keep_best = {};
  std::optional<double> max_secs = {};
  job_planner planner = {};            ///< Null: the job has one plan, that of its model.
  std::vector<std::shared_ptr<hook>> hooks = {};
  std::vector<std::shared_ptr<saving_listener>> saving_listeners = {};
  std::shared_ptr<hook> log = {};      ///< Receives events on the callbacks' own thread; may be null.
  std::shared_ptr<hook_turns> turns = std::make_shared<hook_turns>();
};

struct evaluation_job {
  job_basis basis;
  evaluation_data data;
  chosen_checkpoint checkpoint = {};
};

struct prediction_job {
  job_basis basis;
  dataset input;
  prediction_choice choice = {};
  chosen_checkpoint checkpoint = {};
  int64_t batches_ahead = 16;
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Called where the predictions are taken.
};

using any_job = std::variant<training_job, evaluation_job, prediction_job>;
const job_basis& basis_of(const any_job& job) noexcept;

/// The objects of a plan: a model for each of its programs and a dataset for each of its datasets, in the plan's order.
struct plan_resources {
  std::vector<std::shared_ptr<const model>> models;
  std::vector<dataset> datasets;
};

struct planned_job {
  job_plan plan;
  plan_resources resources;
  stored_growth growth = {};           ///< How its first state comes from the last one of the iteration before; of no meaning for iteration 0.
  job_books books = {};                ///< Those from which the plan was made; absent: none were looked at, or there were none.
};

/// Reads the books of the newest checkpoint of a training's directory; absent for other jobs, without a directory or a checkpoint, and where
/// they are damaged or cannot be read now: the checkpoint writer, which meets the same, says so, and a job can recover from some of it.
/// failed_precondition naming what is no directory, or may not be read.
expected<job_books> books_of(const any_job& job);

/// Makes the plan of a job, with its resources: that of its planner, or of one model, which carries the books.
/// invalid_argument as for `make_plan`; the errors of the planner, also what it throws.
expected<planned_job> plan_of(const any_job& job, job_books books = {});

}  // namespace troupe
