// The kinds of job. The estimator has resolved all of their settings; lower layers use them as they are.
#pragma once

#include "actors/chief/deadlines.hpp"
#include "actors/exporting.hpp"
#include "actors/hook_calls.hpp"
#include "actors/writers/start_values.hpp"
#include "pipeline/plan/prediction_choice.hpp"
#include "plan/group_hooks.hpp"
#include "plan/plan.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/file_system.hpp"
#include "words/checkpoint_id.hpp"
#include "words/evaluation_purpose.hpp"
#include "words/settled_config.hpp"
#include "words/stored_plan.hpp"

#include <troupe/estimator.hpp>
#include <troupe/hook.hpp>
#include <troupe/search/options.hpp>

#include <functional>
#include <span>
#include <variant>

namespace troupe {

/// The members that every kind of job has.
struct job_basis {
  std::shared_ptr<const model> source;
  settled_config config;
  /// Already checked; null: variables start from their initial values.
  std::shared_ptr<const warm_start_settings> start = {};
  chief_deadlines deadlines = {};
  std::shared_ptr<file_system> files = posix_file_system();  ///< Never null.
  int32_t processors = 1;  ///< Divided among the replicas if `intra_op_threads` is automatic.
};

/// The data of an evaluation, beside training or alone.
struct evaluation_data {
  dataset input;
  std::optional<int64_t> steps = {};  ///< Number of batches; absent: until the end of the data.
  std::string name = {};              ///< The name in its `eval_spec`.
  std::vector<std::shared_ptr<hook>> hooks = {};
  /// The replicas to which its batches are dealt, spread evenly over hosts, each of which reads its share of the data.
  int32_t hosts = 1, replicas = 1;
  /// The folder of its event file, relative to the model directory.
  std::string folder() const { return name.empty() ? "eval" : "eval_" + name; }
};

/// An evaluation beside training, or of a search between two iterations. Those of a search come last.
struct evaluation_policy {
  evaluation_data data;
  exporting exports = {};       ///< Null if there are no exporters.
  bool exports_at_end = false;  ///< Whether an exporter has the rule `final`.
  double start_delay_secs = 0;
  double throttle_secs = 600;
  int64_t sanity_batches = 2;
  std::optional<int64_t> every_steps = {};
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_evaluator_failure = failure_policy::fail;
  evaluation_purpose purpose = evaluation_purpose::regular;
  int64_t least_steps = 0;  ///< From one evaluated checkpoint to the next; the last is exempt.
};

/// A metric that something beside the rules will look up in results, known before the job starts.
struct asked_metric {
  std::string who;  ///< "reduce_on_plateau", "the exporter 'best'".
  std::string evaluation;
  std::string metric;
};

struct planned_job;
/// The books of the checkpoint that a training will resume from: step, iteration, properties, positions. Reading them
/// reads no tensor.
using job_books = std::optional<checkpoint_info>;
/// Makes the plan and resources for a job with these books. It is called before the job starts. It is called again, on
/// a separate thread, whenever the newest checkpoint needs another plan than the present one
/// (`plan_iteration::goes_on_from`).
using job_planner = std::function<expected<planned_job>(const job_books&)>;

/// Chooses a checkpoint, possibly in a directory other than the model's.
struct chosen_checkpoint {
  checkpoint_choice which = {};
  std::optional<std::string> directory = {};  ///< Absent: the model directory.
};

class run_port;

/// A job whose caller moves it: what a session adds to a training.
struct session_plan {
  /// The first values of a job without a checkpoint, made of those that it would have; null: these.
  std::function<expected<start_values::values>(layouts groups, uint64_t seed, start_values::values given)> start = {};
  bool notes_end = false;  ///< There is an event file in any case, and it says that the job ends.
  /// It saves nothing, and each attempt begins with what `start` finds.
  bool copies = false;
  std::shared_ptr<run_port> port = {};  ///< Never null.
  /// What work beside the job has failed with, if another attempt cures that (`chief_options::preempted`).
  std::function<std::optional<error>()> preempted = {};
};

struct training_job {
  job_basis basis;
  dataset input;
  int32_t hosts = 1;
  bool reducers = false;  ///< Replicas reduce by messages, not in a collective: the same bits, more slowly.
  /// The one that is reached first ends the job. If both are absent, the job ends with the data.
  std::optional<int64_t> max_steps = {}, steps = {};
  std::vector<evaluation_policy> evaluations = {};
  std::vector<stop_rule> stop_early = {};
  std::optional<troupe::keep_best> keep_best = {};
  std::vector<asked_metric> asked = {};
  /// An evaluator in another process makes the evaluations, and applies the rules to them.
  bool judged_elsewhere = false;
  /// The state in which a new job begins is saved and evaluated as later ones are.
  bool evaluates_first = false;
  std::optional<double> max_secs = {};
  bool continue_input = false;  ///< As in `train_spec`.
  input_change input_changed = input_change::refuse;
  job_planner planner = {};  ///< Null: the job has one plan, made from its model, or is a search.
  std::shared_ptr<const session_plan> session = {};   ///< Null: the job runs by itself.
  std::shared_ptr<const search_options> search = {};  ///< Null: the job is no search. It has no model then.
  std::vector<std::shared_ptr<hook>> hooks = {};
  std::vector<std::shared_ptr<saving_listener>> saving_listeners = {};
  std::shared_ptr<hook> log = {};  ///< Receives events on the callbacks' own thread; may be null.
  std::shared_ptr<hook_calls> hook_thread = std::make_shared<hook_calls>();
};

/// The evaluations of a training that are of an `eval_spec`.
std::span<const evaluation_policy> regular_evaluations(const training_job& job);
/// Whether the callbacks actor of a training has something to call.
bool has_hooks(const training_job& job);

struct evaluation_job {
  job_basis basis;
  evaluation_data data;
  chosen_checkpoint checkpoint = {};
};

struct prediction_job {
  job_basis basis;
  dataset input;
  prediction_choice choice = {};
  int32_t hosts = 1, replicas = 1;  ///< As in `evaluation_data`.
  chosen_checkpoint checkpoint = {};
  int64_t batches_ahead = 16;
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Called on the thread that takes the predictions.
};

/// The job of a process beside that of a chief: it evaluates the checkpoints that the chief commits, until the chief's
/// job has ended. Without evaluations it only waits for that.
struct follower_job {
  job_basis basis;
  std::vector<evaluation_policy> evaluations = {};
  std::vector<std::shared_ptr<evaluation_listener>> listeners = {};  ///< One for each evaluation; may be null.
  std::vector<stop_rule> stop_early = {};
  std::optional<troupe::keep_best> keep_best = {};
  std::vector<asked_metric> asked = {};
  std::optional<int64_t> max_steps = {};                     ///< Of the chief's job, for exports at its end.
  bool ends_by_epochs = false;                               ///< The goal of the chief's job is not known here.
  std::chrono::milliseconds first_commit_within{7'200'000};  ///< How long the first checkpoint is waited for.
  std::chrono::milliseconds chief_within{600'000};           ///< How long a chief that has gone is waited for.
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Hear events, on the driver's thread; no pointer is null.
};

using any_job = std::variant<training_job, evaluation_job, prediction_job, follower_job>;
const job_basis& basis_of(const any_job& job) noexcept;

/// What a job evaluates and judges itself.
struct judged_part {
  std::span<const evaluation_policy> evaluations;
  const std::vector<stop_rule>& rules;
  const std::optional<keep_best>& best;
  std::span<const asked_metric> asked;
};
/// Absent for a job that judges nothing, or leaves that to another process.
std::optional<judged_part> judged_part_of(const any_job& job);

/// What it takes to keep the outputs of a group without updates, row by row of the source
/// (compute/engine/row_cache.hpp).
struct row_cache_plan {
  std::string rows_feature;           ///< The feature with the source row of each example.
  int64_t source_rows = 0;            ///< Rows of the source.
  int64_t bytes_max = 0;              ///< If all rows need more, none are kept.
  std::shared_ptr<const model> loss;  ///< The loss of the group from one of its outputs, a feature.
  std::string loss_reads;             ///< The name of that output.
};

/// A model for each program and a dataset for each dataset of a plan, in the plan's order.
struct plan_resources {
  std::vector<std::shared_ptr<const model>> models;
  std::vector<dataset> datasets;
  std::map<size_t, row_cache_plan> caches = {};  ///< By program.
  group_hooks hooks = {};                        ///< Of groups, made for this plan.
};

struct planned_job {
  job_plan plan;
  plan_resources resources;
  /// How the first state follows from the last state of the iteration before. Not used in iteration 0.
  stored_growth growth = {};
  job_books books = {};  ///< The books that the plan was made from; absent: there were none, or none were read.
  /// Blobs of the books with which the plan begins, which the chief keeps up to date in each save.
  std::map<std::string, std::string> blobs = {};
  std::vector<std::string> remarks = {};  ///< For the log of a search that grows.
};

/// Reads the books of the newest checkpoint in the directory of a training. Absent for other jobs, and if there is no
/// directory or checkpoint. Also absent if the books are damaged or cannot be read: the checkpoint writer reports the
/// same problem later, and a job can recover from some of these. Error: failed_precondition naming a path that is not a
/// directory or may not be read.
expected<job_books> books_of(const any_job& job);

/// Makes the plan of a job and its resources, with the job's planner, as a search (search_plan.hpp) or from its only
/// model; the result carries `books`. Errors: invalid_argument as for `make_plan`; those of `plan_search`; the errors
/// and exceptions of the planner, and the exceptions of a search's functions.
expected<planned_job> plan_of(const any_job& job, job_books books = {});

}  // namespace troupe
