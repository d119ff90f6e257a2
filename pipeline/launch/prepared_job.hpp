// A plan with everything it needs to run: models planned, memory allocated. Made before any actor exists, so that errors
// of a model, an input or a configuration are returned at once.
#pragma once

#include "actors/job_board.hpp"
#include "actors/prediction_board.hpp"
#include "actors/writers/start_values.hpp"
#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_engine.hpp"
#include "pipeline/plan/jobs.hpp"
#include "plan/attempt_plan.hpp"
#include "storage/files/directory_claim.hpp"
#include "words/stop_switch.hpp"

#include <troupe/dataset_iterator.hpp>

#include <functional>
#include <map>

namespace troupe {

/// A dataset of the plan, opened.
struct prepared_dataset {
  dataset input;
  iterate_options iterate;                      ///< `host` is filled in for each infeed.
  element_spec element;
  int64_t batch_rows = 1;
  std::unique_ptr<dataset_iterator> first;      ///< At the beginning; the infeed of host 0 takes it, to open a source once.
};

/// A program of the plan: a group's model in one mode.
struct prepared_program {
  std::shared_ptr<parameter_store> parameters;
  std::vector<std::shared_ptr<step_engine>> engines;  ///< One for each replica, until it is started a second time.
  /// Makes an engine for a replica of the program, as one that was killed inside a step is not used again.
  std::function<expected<std::unique_ptr<step_engine>>(const plan_node& replica)> make_engine;
  std::shared_ptr<gradient_reduction> reduction;      ///< Only for several replicas that train.
  std::vector<component> exposed = {};                ///< What each replica makes for other groups, by out-port.
  bool measures = false;                              ///< It has metrics of training.
};

/// Interrupts the nodes of one driver.
struct node_switch {
  std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);  ///< Cancels a long step.
  std::shared_ptr<stop_switch> stop = std::make_shared<stop_switch>();                     ///< Cancels a read that blocks.
  void all() const {
    cancel->store(true);
    stop->request_stop();
  }
  /// No node is inside a step or a read.
  void renew() const {
    stop->renew();
    cancel->store(false);
  }
};

/// When training computes the sums of metrics.
inline measuring measuring_of(const settled_config& config) {
  if (config.log_steps == 0 || config.train_metrics == train_metrics::none)
    return measuring::never;
  return config.train_metrics == train_metrics::all ? measuring::always : measuring::when_recording;
}

struct prepared_job {
  any_job job;
  checked_plan plan;
  job_books books = {};                         ///< Of the checkpoint that the job was planned from; the checkpoint writer may find another one.
  stored_growth growth = {};                    ///< How its first state comes from the last one of the iteration before.
  std::shared_ptr<start_values> start = {};     ///< What variables begin with where there is no checkpoint; null: initial values.
  std::vector<prepared_dataset> datasets;       ///< In the plan's order.
  std::vector<prepared_program> programs;       ///< In the plan's order.
  std::vector<evaluation_history> histories = {};  ///< Evaluations of earlier runs, in the order of the job's, where a rule or the result looks at them.
  std::vector<std::vector<group_id>> evaluated_groups = {};  ///< Those whose variables an evaluation beside training loads, in the order of the job's.
  std::map<node_id, node_switch> switches;      ///< By driver.
  double wall_offset = 0;                       ///< Seconds since the epoch when the actors' clock stood at 0; set by the launcher.
  std::string host = "simulated";               ///< The host in the names of event files; set by the launcher.
  std::shared_ptr<directory_claim> claim = std::make_shared<directory_claim>();  ///< The claim on the model directory.
  std::shared_ptr<job_board> board;             ///< The board of training; set by the launcher.
  std::shared_ptr<prediction_board> predictions;  ///< The board of a prediction; set by the launcher.

  /// It follows `before`: the same clock, host, boards and claim.
  void share_with(const prepared_job& before) {
    wall_offset = before.wall_offset;
    host = before.host;
    claim = before.claim;
    board = before.board;
  }
  const job_basis& basis() const noexcept { return basis_of(job); }
  /// The caller knows that the job is of that kind.
  const training_job& training() const { return std::get<training_job>(job); }
  const prediction_job& prediction() const { return std::get<prediction_job>(job); }
  /// The data of an evaluation, alone or beside training, by the number of its evaluator.
  const evaluation_data& evaluation(int32_t which) const;
  /// The first program of that mode. Throws broken_invariant where the plan has none.
  prepared_program& in(mode m);
  const prepared_program& in(mode m) const { return const_cast<prepared_job*>(this)->in(m); }
  /// The program of the replicas that an evaluator or a predictor drives.
  const prepared_program& driven_by(node_id driver) const;
};

/// The plan, with what a chief has to know of its models.
attempt_plan attempt_plan_of(const std::shared_ptr<const prepared_job>& job);
/// The layouts of the groups that train.
std::vector<group_layout> layouts_of(const prepared_job& job);
/// The components that an edge carries, by row; its source must be prepared.
std::vector<component> carried_by(const prepared_job& job, const plan_edge& edge);

}  // namespace troupe
