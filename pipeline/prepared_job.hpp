// A plan with everything it needs to run: models planned, memory allocated. Made before any actor exists, so that what
// is wrong with a model, an input or a configuration is said at once.
#pragma once

#include "actors/chief.hpp"
#include "actors/hook_turns.hpp"
#include "compute/gradient_reduction.hpp"
#include "compute/step_engine.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/prediction_choice.hpp"
#include "storage/checkpoint_store.hpp"

#include <troupe/dataset_iterator.hpp>

namespace troupe {

/// What a job is made of, as the front door says it.
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
  bool evaluator_may_fail = false;              ///< Policy go_on: an evaluation that fails is a warning.
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

/// One copy of the nodes that compute: the training crew's, the evaluator's or the predictor's.
struct prepared_crew {
  mode what = mode::train;
  dataset input;
  iterate_options iterate;                      ///< host is filled in for each infeed.
  int32_t hosts = 1;
  std::shared_ptr<parameter_store> parameters;
  std::vector<std::shared_ptr<step_engine>> engines;  ///< One a replica.
  std::vector<plan_edge> edges;
  std::shared_ptr<std::atomic<bool>> cancel;
  std::stop_source stop;
  std::shared_ptr<gradient_reduction> reduction;  ///< Of several replicas.
};

struct prepared_job {
  job_description description;
  job_plan shape;
  double wall_offset = 0;                       ///< Seconds since the epoch when the actors' clock stood at 0; set by the launcher.
  std::string host = "simulated";               ///< In the names of event files; set by the launcher.
  std::shared_ptr<job_board> board;             ///< Of a launched training, for its evaluator; set by the launcher.
  std::optional<prepared_crew> training;
  std::optional<prepared_crew> evaluation;
  std::optional<prepared_crew> prediction;
};

/// Whether a job writes checkpoints: it has a model directory and something that triggers a save.
bool saves(const job_description& job);

/// Whether training keeps summaries, and whether its evaluations do.
bool keeps_summaries(const job_description& job);
bool keeps_eval_summaries(const job_description& job);

/// The plan of a job that trains. invalid_argument as `make_training_plan`.
expected<job_plan> training_plan(const job_description& job);

/// invalid_argument and whatever the model, the datasets and memory have to say.
expected<std::shared_ptr<prepared_job>> prepare(job_description description);

}  // namespace troupe
