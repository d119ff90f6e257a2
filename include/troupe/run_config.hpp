// How a job runs: where it keeps its files, how often it saves and logs, how many replicas share the work.
// Read it to begin with.
//
//   tr::run_config config{.model_dir = "runs/fashion", .save_checkpoints_steps = 500};
//   auto by_time = tr::replace(config, [](tr::run_config& c) { c.save_checkpoints_secs = 60.0; });  // Not by steps.
//
// A plain value with the Estimator's names and defaults. It is checked when a job starts, or by `validate`.
// `std::nullopt` is the Estimator's None: switched off. For a `setting` that differs from a field that was never set.
#pragma once

#include <troupe/error.hpp>
#include <troupe/input_mode.hpp>
#include <troupe/setting.hpp>

#include <chrono>
#include <concepts>
#include <utility>
#include <variant>

namespace troupe {

/// The training steps over which the model's metrics are computed, to be reported at each log point.
enum class train_metrics : uint8_t {
  none,    ///< No metrics of training.
  logged,  ///< The step that leads to the log point.
  all,     ///< Every step since the previous log point, or since the job started or recovered.
};

/// What a job does after a step whose loss or gradient is not finite.
enum class not_finite : uint8_t {
  fail,  ///< The job fails with nan_loss, which names the step.
  stop,  ///< A warning. The job saves the state before that step and stops there. Only for a job of one group.
};

/// How long a loop is: a number of steps, or the time that it should take. As text "100", "90s", "2m", "1h".
using loop_length = std::variant<int64_t, std::chrono::seconds>;

/// The label in front of the addresses of a cluster (cluster.hpp). Names only: Troupe speaks neither of them.
enum class cluster_protocol : uint8_t { grpc, grpc_verbs };

struct run_config {
  /// Directory of checkpoints, summaries and exports; a job resumes from its newest checkpoint. None: nothing is kept.
  std::optional<std::string> model_dir = {};
  std::optional<uint64_t> seed = {};  ///< Seed of all draws (tf_random_seed). None: 0.
  int64_t save_summary_steps = 100;   ///< Steps between summaries; 0: no summaries.
  /// Seconds between summaries, in place of `save_summary_steps`: the first is of the first step, each other one of the
  /// next step that is granted, less than a second later.
  std::optional<double> save_summary_secs = {};
  /// Steps (or seconds) between checkpoints: at most one of the two has a value. If neither is set, every 600 s. If one
  /// is set to none or 0 and the other has no value, there are no checkpoints. A crash costs what was trained since.
  setting<int64_t> save_checkpoints_steps = {};
  setting<double> save_checkpoints_secs = {};
  std::optional<int64_t> keep_checkpoint_max = 5;     ///< How many of the newest are kept. 0 or none: all.
  double keep_checkpoint_every_n_hours = 10000;       ///< Also keeps one checkpoint for ever every so many hours.
  std::optional<int64_t> log_step_count_steps = 100;  ///< Steps between log points (loss, steps/s). None: off.
  troupe::train_metrics train_metrics = troupe::train_metrics::logged;  ///< Of a spec with metrics in train mode.
  /// Length of a loop (TPUConfig's iterations_per_loop), at least 1; the first begins where the job first started. With
  /// each loop, states that last a loop begin (`graph::state`), and hooks can be told what each has brought
  /// (`needs::loops`). Loops change neither when checkpoints are saved nor what is logged. Of a time: as many steps as
  /// the loops before would have made in it, and 1 until that is known, so that the bits of a state that lasts a loop
  /// depend on the machine.
  loop_length steps_per_loop = 100;
  bool log_perplexity = false;  ///< Progress and loops also show perplexity and bits per character: `ppl`, `bpc`.
  /// Each batch is divided into this many shards, whose gradients are summed in a fixed order: a power of two up to
  /// 2^20, a multiple of `replicas`, by default `replicas`. Set it for the same bits with any number of replicas.
  std::optional<int64_t> gradient_shards = {};
  int64_t replicas = 1;  ///< Copies of the model that share the work of each step, in [1, 1024].
  troupe::input_mode input_mode = troupe::input_mode::per_host;  ///< Of training. A search has per_host.
  /// Threads of each replica, its own included, at most 1024; any number gives the same bits. 0: the processors
  /// available to the process divided by the replicas of the job; fewer if a step is too short, as its plan decides; 1
  /// in simulation and, with `pin_replicas`, for training.
  int64_t intra_op_threads = 0;
  /// Training: the thread of replica r of a group runs only on the r-th processor (modulo their number) of those that
  /// the process may use. Its further threads run on any. Where the system refuses, a warning. No effect in simulation.
  bool pin_replicas = false;
  /// How often in a row a job recovers from its last commit, after an infeed, a replica or the reducer has died or an
  /// error was `aborted` or `unavailable`. A commit beyond the failed step resets the count. None: no limit; 0: never.
  /// With the defaults an input may be unavailable for 303 s. A second `aborted` at the same step ends the job at once.
  /// If another node dies, the job saves and fails (docs/failures.md).
  std::optional<int64_t> recovery_attempts_max = 10;
  double recovery_first_delay_secs = 1;  ///< Delay before the first recovery; each later one doubles it,
  double recovery_delay_max_secs = 60;   ///<   up to this.
  /// Repeats a step that is not finite operation by operation, so that the error names the first operation, variable or
  /// input component that is not. Until then it costs, with several replicas, one more check of each gradient.
  bool debug_numerics = false;
  not_finite on_not_finite = not_finite::fail;
  /// Rematerialisation, for models short of memory: gradients recompute cheap forward values (no matrix product, no
  /// convolution) if that takes less memory. Slower, with the same bits.
  bool recompute = false;

  // In a cluster (cluster.hpp).
  std::optional<cluster_protocol> protocol = {};      ///< The label in front of a task's address. None: grpc.
  double session_creation_timeout_secs = 7200;        ///< How long a task waits for the chief to begin, above 0.
  double chief_wait_secs = 600;                       ///< How long a task waits for a chief that has gone.
  std::optional<int64_t> max_worker_delay_secs = {};  ///< Most seconds that a worker begins later. None: 60.

  friend bool operator==(const run_config&, const run_config&) = default;
};

/// invalid_argument naming the first invalid field and its value; unimplemented: one without effect yet was changed.
TROUPE_API expected<void> validate(const run_config& config);

/// When checkpoints are saved, after defaults are applied: every `steps`, every `secs`, or never.
struct checkpoint_trigger {
  std::optional<int64_t> steps = {};
  std::optional<double> secs = {};

  /// False if both are absent or 0.
  bool enabled() const noexcept { return steps.value_or(0) > 0 || secs.value_or(0) > 0; }
  friend bool operator==(const checkpoint_trigger&, const checkpoint_trigger&) = default;
};
/// Resolves the two fields as TensorFlow's RunConfig does: setting one, even to none, removes the other's default.
/// invalid_argument: both have a value.
TROUPE_API expected<checkpoint_trigger> resolve_checkpoint_trigger(const run_config& config);

/// A copy of `config` to which `edit` was applied: `[](run_config& c) { c.replicas = 2; }`. `config` stays as it is.
/// Where the edit gives only one of the two save_checkpoints fields a new value, the other becomes none; new values for
/// both are invalid_argument, as is all that `validate` refuses.
template <std::invocable<run_config&> Edit>
expected<run_config> replace(const run_config& config, Edit&& edit);

/// The same for one field by name and value as text ("none" is std::nullopt), for files and command lines.
/// invalid_argument naming an unknown field and the known ones, or a value that does not fit.
TROUPE_API expected<run_config> replace(const run_config& config, std::string_view field, std::string_view value);

/// What `replace` returns for `config` whose edited copy is `edited`.
TROUPE_API expected<run_config> settle_edit(const run_config& config, run_config edited);

template <std::invocable<run_config&> Edit>
expected<run_config> replace(const run_config& config, Edit&& edit) {
  run_config edited = config;
  std::forward<Edit>(edit)(edited);
  return settle_edit(config, std::move(edited));
}

}  // namespace troupe
