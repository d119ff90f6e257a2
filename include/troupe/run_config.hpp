// How a job is run: where it keeps its files, how often it saves and logs, how many replicas share the work.
// Read it to begin with.
//
//   tr::run_config config{.model_dir = "runs/fashion", .save_checkpoints_steps = 500};
//   auto longer = tr::replace(config, {.save_checkpoints_secs = 60.0});   // The steps lose their say.
//
// A plain value with the Estimator's names and defaults; nothing is checked before `validate`. `std::nullopt` is the
// Estimator's None: switched off. Where a default depends on it, that differs from a field that was never mentioned.
#pragma once

#include <troupe/error.hpp>

#include <concepts>
#include <utility>

namespace troupe {

/// An option of three states: never mentioned, std::nullopt (off), or a value.
template <class T>
class setting {
 public:
  constexpr setting() = default;
  constexpr setting(std::nullopt_t) : mentioned_(true) {}       // NOLINT(google-explicit-constructor): reads as in the
  constexpr setting(T value) : mentioned_(true), value_(value) {}  // NOLINT(google-explicit-constructor): example above.

  constexpr bool mentioned() const noexcept { return mentioned_; }
  /// Absent when off or never mentioned.
  constexpr const std::optional<T>& value() const noexcept { return value_; }

  friend constexpr bool operator==(const setting&, const setting&) = default;

 private:
  bool mentioned_ = false;
  std::optional<T> value_;
};

/// The steps whose examples the model's metrics are computed of while training, shown at every log point.
enum class train_metrics : uint8_t {
  none,
  logged,  ///< The step that leads to the log point.
  all,     ///< Every step since the previous log point, or since the job started or recovered.
};

/// What follows from a step whose loss or gradient is not finite.
enum class not_finite : uint8_t {
  fail,  ///< The job fails, and names the step.
  stop,  ///< A warning; the state before that step is saved, and the job stops there. Only for a job of one group.
};

struct run_config {
  std::optional<std::string> model_dir = {};            ///< Without one, nothing is kept.
  std::optional<uint64_t> seed = {};                    ///< tf_random_seed.
  int64_t save_summary_steps = 100;                     ///< 0: no summaries.
  setting<int64_t> save_checkpoints_steps = {};         ///< At most one of these two has a value.
  setting<double> save_checkpoints_secs = {};           ///< 600 when neither is mentioned.
  std::optional<int64_t> keep_checkpoint_max = 5;       ///< 0 or none: all are kept.
  double keep_checkpoint_every_n_hours = 10000;
  std::optional<int64_t> log_step_count_steps = 100;    ///< None: neither steps per second nor the loss is logged.
  troupe::train_metrics train_metrics = troupe::train_metrics::logged;  ///< Of models whose spec has metrics while training.
  int64_t steps_per_loop = 100;                         ///< TPUConfig's iterations_per_loop: of no effect yet, only 100 is accepted.
  std::optional<int64_t> gradient_shards = {};          ///< A power of two that `replicas` divides, 2^20 at most; none: `replicas`.
  int64_t replicas = 1;                                 ///< 1024 at most.
  /// Threads per replica, its own included, 1024 at most. 0: the processors that the process may use, divided by the replicas of the
  /// job; fewer where a step is too short for them to pay, which its plan alone decides; 1 in simulation. The bits are the same for
  /// every number.
  int64_t intra_op_threads = 0;
  /// Where an infeed, a replica or the reducer dies, or an error is `aborted` or `unavailable`, the job goes on from its
  /// last commit: at most so many times in a row without a commit beyond the step that failed. None: without limit; 0:
  /// never. With the defaults an input may be away for 303 s. An `aborted` that comes back at the same step ends the job
  /// at once. Where another node dies, the job saves and fails (docs/failures.md).
  std::optional<int64_t> recovery_attempts_max = 10;
  double recovery_first_delay_secs = 1;                 ///< Before the first of them; each later delay is twice as long,
  double recovery_delay_max_secs = 60;                  ///<   and at most this.
  /// A step whose loss or gradient is not finite is repeated, operation by operation, and the error names the first
  /// operation, variable or component fed that was not. Cost until then: with several replicas one more check of each
  /// gradient.
  bool debug_numerics = false;
  not_finite on_not_finite = not_finite::fail;
  /// Rematerialisation: while training, forward values that are cheap to compute (no matrix product, no convolution)
  /// are recomputed for the gradients where that takes less memory: slower, to the same bits.
  bool recompute = false;

  friend bool operator==(const run_config&, const run_config&) = default;
};

/// invalid_argument naming the first invalid field and its value; unimplemented for a field that has no effect yet and another value
/// than its default.
TROUPE_API expected<void> validate(const run_config& config);

/// When checkpoints are saved, with defaults resolved: every `steps`, every `secs`, or never.
struct checkpoint_trigger {
  std::optional<int64_t> steps = {};
  std::optional<double> secs = {};

  /// False where both are absent or 0.
  bool enabled() const noexcept { return steps.value_or(0) > 0 || secs.value_or(0) > 0; }
  friend bool operator==(const checkpoint_trigger&, const checkpoint_trigger&) = default;
};
/// Resolves the two fields as TensorFlow's RunConfig does: mentioning one, even as none, removes the other's default.
/// invalid_argument when both have a value.
TROUPE_API expected<checkpoint_trigger> resolve_checkpoint_trigger(const run_config& config);

/// A field of `run_config_changes`: absent, or the new value, which may itself be none.
template <class T>
class change {
 public:
  constexpr change() = default;
  template <class U>
    requires std::convertible_to<U, T> && (!std::same_as<std::remove_cvref_t<U>, change>)
  constexpr change(U&& value) : given_(true), value_(std::forward<U>(value)) {}  // NOLINT(google-explicit-constructor)

  constexpr bool given() const noexcept { return given_; }
  constexpr const T& value() const noexcept { return value_; }

 private:
  bool given_ = false;
  T value_{};
};

/// `run_config`'s fields again: braces name members, and C++20 makes no members from a table. A test counts both, the table refuses other types.
struct run_config_changes {
  change<std::optional<std::string>> model_dir = {};
  change<std::optional<uint64_t>> seed = {};
  change<int64_t> save_summary_steps = {};
  change<setting<int64_t>> save_checkpoints_steps = {};
  change<setting<double>> save_checkpoints_secs = {};
  change<std::optional<int64_t>> keep_checkpoint_max = {};
  change<double> keep_checkpoint_every_n_hours = {};
  change<std::optional<int64_t>> log_step_count_steps = {};
  change<troupe::train_metrics> train_metrics = {};
  change<int64_t> steps_per_loop = {};
  change<std::optional<int64_t>> gradient_shards = {};
  change<int64_t> replicas = {};
  change<int64_t> intra_op_threads = {};
  change<std::optional<int64_t>> recovery_attempts_max = {};
  change<double> recovery_first_delay_secs = {};
  change<double> recovery_delay_max_secs = {};
  change<bool> debug_numerics = {};
  change<not_finite> on_not_finite = {};
  change<bool> recompute = {};
};

/// A copy with the changes applied, validated. Giving only one of the two save_checkpoints fields, and with a value,
/// sets the other to none; giving both with values is invalid_argument.
TROUPE_API expected<run_config> replace(const run_config& config, const run_config_changes& changes);

/// The same for a field given by name, with its value as text ("none" is std::nullopt), for files and command lines:
/// the way to say replace(foo=1). invalid_argument naming an unknown field and the known ones, or the value that does
/// not fit.
TROUPE_API expected<run_config> replace(const run_config& config, std::string_view field, std::string_view value);

}  // namespace troupe
