// A plan with everything it needs to run: models planned, memory allocated. Made before any actor exists, so that what
// is wrong with a model, an input or a configuration is said at once.
#pragma once

#include "actors/job_board.hpp"
#include "actors/prediction_board.hpp"
#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_engine.hpp"
#include "pipeline/plan/jobs.hpp"
#include "storage/files/directory_claim.hpp"

#include <troupe/dataset_iterator.hpp>

#include <map>

namespace troupe {

/// A dataset of the plan, opened.
struct prepared_dataset {
  dataset input;
  iterate_options iterate;                      ///< `host` is filled in for each infeed.
  element_spec element;
  int64_t batch_rows = 1;
  std::unique_ptr<dataset_iterator> first;      ///< Of host 0, at the beginning: its infeed takes it, so that a source is opened once.
};

/// A program of the plan: a group's model in one mode.
struct prepared_program {
  std::shared_ptr<parameter_store> parameters;
  std::vector<std::shared_ptr<step_engine>> engines;  ///< One a replica.
  std::shared_ptr<gradient_reduction> reduction;      ///< Of several replicas that train.
};

/// How the nodes of one driver are freed from outside.
struct crew_switch {
  std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);  ///< A long step.
  std::stop_source stop;                                                                   ///< A read that blocks.
  void all() {
    cancel->store(true);
    stop.request_stop();
  }
};

struct prepared_job {
  any_job job;
  job_plan plan;
  std::vector<prepared_dataset> datasets;       ///< As the plan lists them.
  std::vector<prepared_program> programs;       ///< As the plan lists them.
  std::map<node_id, crew_switch> switches;      ///< By driver.
  double wall_offset = 0;                       ///< Seconds since the epoch when the actors' clock stood at 0; set by the launcher.
  std::string host = "simulated";               ///< In the names of event files; set by the launcher.
  std::shared_ptr<directory_claim> claim = std::make_shared<directory_claim>();  ///< On the model directory.
  std::shared_ptr<job_board> board;             ///< Of a launched training; set by the launcher.
  std::shared_ptr<prediction_board> predictions;  ///< Of a launched prediction; set by the launcher.

  const job_basis& basis() const noexcept { return basis_of(job); }
  /// The job is of that kind.
  const training_job& training() const { return std::get<training_job>(job); }
  const prediction_job& prediction() const { return std::get<prediction_job>(job); }
  /// Of an evaluation alone, or of a training that has one.
  const evaluation_data& evaluation() const;
  /// The first program of that mode; the plan has one.
  prepared_program& in(mode m);
  const prepared_program& in(mode m) const { return const_cast<prepared_job*>(this)->in(m); }
  /// Of the nodes that this role drives.
  crew_switch& switch_of(role driver);
};

/// What one row that flows by an edge holds, its source being prepared.
std::vector<component> carried_by(const prepared_job& job, const plan_edge& edge);

}  // namespace troupe
