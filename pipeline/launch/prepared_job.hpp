// A plan with everything it needs to run: models planned, memory allocated. Made before any actor exists, so that what
// is wrong with a model, an input or a configuration is said at once.
#pragma once

#include "actors/job_board.hpp"
#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_engine.hpp"
#include "pipeline/plan/job_description.hpp"
#include "storage/files/directory_claim.hpp"

#include <troupe/dataset_iterator.hpp>

namespace troupe {

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
  std::shared_ptr<directory_claim> claim = std::make_shared<directory_claim>();  ///< On the model directory.
  std::shared_ptr<job_board> board;             ///< Of a launched training, for its evaluator; set by the launcher.
  std::optional<prepared_crew> training;
  std::optional<prepared_crew> evaluation;
  std::optional<prepared_crew> prediction;
};

}  // namespace troupe
