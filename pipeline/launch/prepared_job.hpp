// A plan with everything it needs to run: models planned, memory allocated. It is made before any actor exists, so that
// errors of a model, an input or a configuration are returned at once.
#pragma once

#include "actors/job_board.hpp"
#include "actors/prediction_board.hpp"
#include "actors/writers/start_values.hpp"
#include "compute/engine/collective.hpp"
#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_engine.hpp"
#include "ensemble/search_books.hpp"
#include "pipeline/plan/jobs.hpp"
#include "plan/attempt_plan.hpp"
#include "storage/files/directory_claim.hpp"
#include "words/stop_switch.hpp"

#include <troupe/dataset_iterator.hpp>

#include <functional>
#include <map>

namespace troupe {

/// An open dataset of the plan.
struct prepared_dataset {
  /// One, of which each infeed reads a share; or what an input function has returned for each infeed.
  std::vector<dataset> inputs;
  iterate_options iterate;  ///< Each infeed sets its own `host`.
  element_spec element;
  int64_t batch_rows = 1;
  /// Iterators at the beginning, of the first infeeds. These take them, so that a source is opened only once.
  std::vector<std::unique_ptr<dataset_iterator>> first;

  const dataset& of(int32_t infeed) const { return inputs[std::min(static_cast<size_t>(infeed), inputs.size() - 1)]; }
};

/// A program of the plan: a group's model in one mode.
struct prepared_program {
  std::shared_ptr<parameter_store> parameters;
  /// One for each replica; null once the replica has been restarted.
  std::vector<std::shared_ptr<step_engine>> engines;
  /// Makes a new engine for a replica of the program. An engine whose replica was killed inside a step is not used
  /// again.
  std::function<expected<std::unique_ptr<step_engine>>(const plan_node& replica)> make_engine;
  // Of several replicas that train, one of these: what the group's reducer works with, or where its replicas meet.
  std::shared_ptr<gradient_reduction> reduction;
  std::shared_ptr<troupe::collective> collective;
  int64_t rows = 0;                     ///< Of a step, over all replicas.
  std::vector<component> exposed = {};  ///< The outputs of each replica for other groups, by out-port.
  // What each of its engines says of itself; an engine may be gone.
  std::vector<program_output> outputs = {}, measured = {};
  std::vector<observable> observables = {};
  metric_functions metrics = {};
  summary_recipes summaries = {};
  host_call_forms calls = {};
  bool carries = false;  ///< Whether its model carries states from batch to batch.
  /// Whether it computes metrics in training.
  bool measures() const { return !measured.empty(); }
};

/// Interrupts the nodes of one driver.
struct node_switch {
  std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);  ///< Cancels a step.
  std::shared_ptr<stop_switch> stop = std::make_shared<stop_switch>();                     ///< Cancels a blocking read.
  /// Cancels one of a group's own data, which are read up to the step at which a stop ends the other ones.
  std::shared_ptr<stop_switch> stop_own = std::make_shared<stop_switch>();
  void all() const {
    cancel->store(true);
    stop->request_stop();
    stop_own->request_stop();
  }
  /// Lifts the interruption. No node may be inside a step or a read.
  void renew() const {
    stop->renew();
    stop_own->renew();
    cancel->store(false);
  }
};

/// When the training computes sums of metrics.
inline measuring measuring_of(const settled_config& config) {
  if (config.log_steps == 0 || config.train_metrics == train_metrics::none)
    return measuring::never;
  return config.train_metrics == train_metrics::all ? measuring::always : measuring::when_recording;
}

struct prepared_job {
  any_job job;
  checked_plan plan;
  job_books books = {};  ///< The books that the plan was made from. The checkpoint writer may find a newer checkpoint.
  std::map<std::string, std::string> blobs = {};  ///< Of the books with which the plan begins.
  std::shared_ptr<const group_hooks> hooks = {};  ///< Null: no group has any.
  std::vector<std::string> remarks = {};          ///< For the log of a search that grows.
  stored_growth growth = {};  ///< How this iteration's first state follows from the last state of the iteration before.
  /// Initial values for a job without a checkpoint; null: those of the model.
  std::shared_ptr<start_values> start = {};
  std::vector<prepared_dataset> datasets;  ///< In the plan's order.
  std::vector<prepared_program> programs;  ///< In the plan's order.
  /// Evaluations of earlier runs, in the order of the job's evaluations. Empty unless a rule or the result needs them.
  std::vector<evaluation_history> histories = {};
  /// The groups whose variables each evaluation beside training loads, in the order of the job's evaluations.
  std::vector<std::vector<group_id>> evaluated_groups = {};
  /// With `pin_replicas`: the processors of the thread that has prepared the job, ascending, on which its replicas run.
  /// Empty if the system does not say.
  std::vector<int32_t> processors = {};
  std::map<node_id, node_switch> switches;  ///< By number of the driver.
  /// Wall time in seconds since the epoch at which the actors' clock was 0. The launcher sets it.
  double wall_offset = 0;
  std::string host = "simulated";  ///< The host name in the names of event files. The launcher sets it.
  std::shared_ptr<directory_claim> claim = std::make_shared<directory_claim>();  ///< The claim on the model directory.
  std::shared_ptr<job_board> board;               ///< The board of a training. The launcher sets it.
  std::shared_ptr<prediction_board> predictions;  ///< The board of a prediction. The launcher sets it.

  /// Takes over the clock offset, host name, board and claim of `before`, the job that this one follows.
  void share_with(const prepared_job& before) {
    wall_offset = before.wall_offset;
    host = before.host;
    claim = before.claim;
    board = before.board;
  }
  const job_basis& basis() const noexcept { return basis_of(job); }
  /// The job must be of that kind.
  const training_job& training() const { return std::get<training_job>(job); }
  const prediction_job& prediction() const { return std::get<prediction_job>(job); }
  /// The data of an evaluation, alone or beside training. `which` is the index of its evaluator.
  const evaluation_data& evaluation(int32_t which) const;
  /// The first program with mode `m`. Throws broken_invariant if the plan has none.
  prepared_program& in(mode m);
  const prepared_program& in(mode m) const { return const_cast<prepared_job*>(this)->in(m); }
  /// The program of the replicas that `driver`, an evaluator or a predictor, drives.
  const prepared_program& driven_by(node_id driver) const;
};

/// The plan, with what the chief needs to know of its models.
attempt_plan attempt_plan_of(const std::shared_ptr<const prepared_job>& job);
/// The books of a search with which its plan was made.
search_books books_of_plan(const prepared_job& job);
/// The layouts of all groups that train.
std::vector<group_layout> layouts_of(const prepared_job& job);
/// The components of each row that an edge carries. The program or dataset that it comes from must be prepared.
std::vector<component> carried_by(const prepared_job& job, const plan_edge& edge);

}  // namespace troupe
