// The options of a search, under the names that AdaNet's estimator has for them.
// Not needed to begin with.
//
//   tr::search_options o{.head = tr::multi_class_head{.classes = 10},
//                        .subnetwork_generator = tr::generators::simple_dnn({.optimizer = tr::adam{}}),
//                        .max_iteration_steps = 2500,
//                        .max_iterations = 2};
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/heads.hpp>
#include <troupe/search/ensembler.hpp>
#include <troupe/search/generator.hpp>
#include <troupe/search/placement.hpp>
#include <troupe/search/strategy.hpp>

namespace troupe {

/// Combines the steps of the subnetworks, each counted from the beginning of the search, into the global step, which is
/// the integer part of the result. Must be a pure function that does not fall while its arguments rise. Null: the mean.
using step_combiner = std::function<double(const std::vector<int64_t>& steps)>;

enum class objective : uint8_t { minimize, maximize };

/// Chooses the winner of each iteration by an evaluation of all candidates on the same batches. Absent: the moving
/// averages of adanet_loss decide.
struct search_evaluator {
  std::optional<dataset> input = {};  ///< Required. The training set, or another one to hold out.
  std::string metric_name = "adanet_loss";
  troupe::objective objective = troupe::objective::minimize;
  std::optional<int64_t> steps = {};  ///< Batches, at least 1; absent: until the input ends, as it must.
};

/// Makes a report of each subnetwork at the end of its iteration.
struct report_materializer {
  std::optional<dataset> input = {};  ///< Required.
  std::optional<int64_t> steps = {};  ///< Batches, at least 1; absent: until the input ends, as it must.
};

/// What `metric_fn` is called with.
struct metric_context {
  std::map<std::string, symbol> predictions = {};  ///< Those of the head; of a multi_head "<name>/<prediction>".
  troupe::features features;
  troupe::labels labels;
};

/// What becomes of a candidate whose loss or gradient is not finite.
enum class candidate_not_finite : uint8_t {
  fail,  ///< The search fails with nan_loss.
  drop,  ///< The subnetwork leaves, with the ensembles that have it; the search goes on with the others. The global
         ///< step and the ends of the iteration and the search count it as one that goes on.
};

struct search_options {
  troupe::head head = {};                           ///< Required: loss and metrics of all subnetworks and ensembles.
  generator subnetwork_generator = {};              ///< Required.
  std::optional<int64_t> max_iteration_steps = {};  ///< Own steps of a spec, at least 1; absent: no limit.
  std::vector<ensembler> ensemblers = {complexity_regularized_ensembler{}};  ///< With names that differ.
  std::vector<strategy> ensemble_strategies = {strategy::grow()};  ///< The candidates of all of them, in order.
  std::optional<search_evaluator> evaluator = {};
  std::optional<troupe::report_materializer> report_materializer = {};
  /// More metrics for the evaluation of each subnetwork and ensemble, in place of those of the same name. Called once
  /// for each of them.
  std::function<std::map<std::string, metric>(graph& g, const metric_context& c)> metric_fn = {};
  bool force_grow = false;  ///< The previous ensemble may not win.
  /// Members of the previous ensemble are in training mode, dropout included, while candidates train.
  bool replicate_ensemble_in_training = false;
  float adanet_loss_decay = 0.9f;  ///< Of the moving average of adanet_loss; in [0, 1).
  candidate_not_finite on_candidate_not_finite = candidate_not_finite::fail;
  bool debug = false;  ///< Floating features and labels that are not finite fail the step (invalid_argument).
  bool enable_ensemble_summaries = true, enable_subnetwork_summaries = true;
  step_combiner global_step_combiner_fn = {};
  std::optional<int64_t> max_iterations = {};  ///< At least 1.
  bool export_subnetwork_logits = false;       ///< Exports have a signature "subnetwork_logits".
  bool export_subnetwork_last_layer = true;    ///< Exports have a signature "subnetwork_last_layer".
  /// The index of the winner of each iteration, for a search that repeats another one.
  std::vector<int64_t> replay_indices = {};
  /// The most bytes of outputs of the previous ensemble's members that are kept between epochs; if those of all
  /// examples need more, they are computed again. They can be kept where each example is one row of an indexed source,
  /// with one replica a group, and the results have the same bits.
  int64_t cache_bytes_max = int64_t{1} << 30;
  std::string report_dir = {};  ///< Empty: "report" in the model directory. Anything else is unimplemented.

  // In a cluster:
  placement experimental_placement_strategy = {};                ///< Anything but replication is unimplemented.
  double delay_secs_per_worker = 5, max_worker_delay_secs = 60;  ///< At least 0.
  double worker_wait_secs = 5, worker_wait_timeout_secs = 7200;  ///< Above 0.
};

/// Error: invalid_argument naming the option and the value: no head, no generator, no ensembler or strategy, two
/// ensemblers of one name, a number out of range, an evaluator or a materializer without input; unimplemented: an
/// option that has no effect yet, naming it.
TROUPE_API expected<void> validate(const search_options& o);

}  // namespace troupe
