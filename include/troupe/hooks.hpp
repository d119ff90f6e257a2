// Ready-made hooks (hook.hpp).
// Not needed to begin with.
//
//   auto log = tr::log_values({.values = {"gradient_norm"}, .every_secs = 10.0});
//   auto plateau = tr::reduce_on_plateau({.factor = 0.5, .patience = 3});
//   tr::train_and_evaluate(estimator, {.input = train, .hooks = {*log, *plateau}}, {.input = test});
//
// Functions that take options return invalid_argument naming an invalid option and its value. A hook serves one job at
// a time, and a later one only after that has ended.
#pragma once

#include <troupe/early_stopping.hpp>
#include <troupe/hook.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

/// Receives one line, without its line end. Empty: lines go to standard output.
using line_writer = std::function<void(const std::string& line)>;

struct log_values_options {
  std::vector<std::string> values = {};     ///< Observed values (`graph::observe`) to log in addition to the loss.
  std::optional<int64_t> every_steps = {};  ///< Logs every multiple of this many steps,
  /// or, once this many seconds have passed, the next multiple of `look_every` steps. Give at most one of the two.
  std::optional<double> every_secs = {};
  bool at_end = false;      ///< Also logs the last step; alone, or with one of the above.
  int64_t look_every = 10;  ///< With `every_secs`: values are computed only at multiples of this step.
  line_writer write = {};
};
/// A hook that writes "step 300: gradient_norm 0.21, loss 0.4321 (1.02 s)": values sorted by name, and from the second
/// line on the seconds since the line before.
TROUPE_API expected<std::shared_ptr<hook>> log_values(log_values_options options);

struct stop_at_time_options {
  std::chrono::system_clock::time_point at = {};
  int64_t look_every = 10;  ///< Reads the clock at multiples of this many steps.
  std::function<std::chrono::system_clock::time_point()> now = {};  ///< The clock; empty: the system's.
};
/// A hook that stops the job at the first multiple of `look_every` after time `at`; the job can be resumed. To limit
/// the seconds of a job, use `train_spec::max_secs`.
TROUPE_API expected<std::shared_ptr<hook>> stop_at_time(stop_at_time_options options);

struct reduce_on_plateau_options {
  metric_goal goal = {};
  double factor = 0.1;      ///< Multiplies the learning rate at each reduction; in (0, 1).
  int64_t patience = 10;    ///< Evaluations without an improvement before the one that reduces.
  double min_delta = 1e-4;  ///< Only a change of more than this is an improvement; at least 0.
  int64_t cooldown = 0;     ///< This many evaluations after a reduction do not count.
  double min_factor = 0;    ///< The least product of all reductions, in [0, 1].
  /// The earlier evaluations of the job, `read_evaluations(dir)`, so that a resumed job continues to count.
  evaluation_history history = {};
};
/// How often a history of evaluations reduces the rate, and by which factor.
struct plateau_state {
  int64_t reductions = 0;
  double rate_factor = 1;  ///< The product of all reductions.
};
/// The rule of PyTorch's ReduceLROnPlateau with an absolute threshold, as a function of a history. key_missing: an
/// evaluation lacks the metric; the error names those that it has.
TROUPE_API expected<plateau_state> look_for_plateau(const reduce_on_plateau_options& options,
                                                    const evaluation_history& history);
/// A hook that reduces the learning rate from exactly the evaluated step on: it holds the job at every evaluation until
/// it has decided. A job without that evaluation, or whose evaluation lacks the metric, is refused before it starts
/// (invalid_argument), unless another process evaluates.
TROUPE_API expected<std::shared_ptr<hook>> reduce_on_plateau(reduce_on_plateau_options options);

/// One trace in a file, or one every `every_steps` steps in a directory.
struct trace_steps_options {
  std::string file = {};       ///< The trace of steps [first, first + steps); a file of that name is replaced.
  int64_t first = 0;           ///< A step of the job. A job that starts beyond it writes nothing.
  int64_t steps = 1;           ///< How many steps a trace has; fewer where the job ends among them.
  std::string directory = {};  ///< For traces timeline-<end>.json of the steps before state <end>.
  /// From where the job starts; the first one is `every_steps` steps after that.
  std::optional<int64_t> every_steps = {};
  /// Gets a sentence if a job ends before `first`, or a file cannot be written.
  std::function<void(const std::string& text)> warn = {};
};
/// A hook that writes traces (job_trace.hpp) in the format of Chrome. Without `warn`, a file that cannot be written
/// fails the job.
TROUPE_API expected<std::shared_ptr<hook>> trace_steps(trace_steps_options options);

/// Whether to report the progress of an evaluation after `batches` batches of `limit`: after each one if there is no
/// limit or one below 20, else at the multiples of limit / 10 (rounded down) and at the last.
TROUPE_API bool evaluation_progress_due(int64_t batches, std::optional<int64_t> limit) noexcept;
/// A hook for `eval_spec::hooks` that writes "evaluated 20 of 200 batches" whenever `evaluation_progress_due`.
TROUPE_API std::shared_ptr<hook> log_evaluation_progress(line_writer write = {});

}  // namespace troupe
