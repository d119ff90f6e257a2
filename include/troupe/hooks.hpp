// Ready-made hooks (hook.hpp).
// Not needed to begin with.
//
//   auto log = tr::log_values({.values = {"gradient_norm"}, .every_secs = 10.0});
//   auto plateau = tr::reduce_on_plateau({.factor = 0.5, .patience = 3});
//   tr::train_and_evaluate(estimator, {.input = train, .hooks = {*log, *plateau}}, {.input = test});
//
// Functions that take options return invalid_argument naming the option and its value. A hook is used by one job at a time, and by a later one
// only after that has ended.
#pragma once

#include <troupe/early_stopping.hpp>
#include <troupe/hook.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

/// Takes a line without its end. An empty one writes to standard output.
using line_writer = std::function<void(const std::string& line)>;

struct log_values_options {
  std::vector<std::string> values = {};     ///< What the model observes (`graph::observe`), beside the loss.
  std::optional<int64_t> every_steps = {};  ///< At the multiples of so many steps,
  std::optional<double> every_secs = {};    ///<   or once so many seconds have passed, at the next multiple of `look_every`: at most one of both.
  bool at_end = false;                      ///< And the last step, if it was not logged; alone or with one of these.
  int64_t look_every = 10;                  ///< With every_secs: only the values of these steps are looked at.
  line_writer write = {};
};
/// Writes "step 300: gradient_norm 0.21, loss 0.4321 (1.02 s)": by name; from the second line on with the seconds since the one before.
TROUPE_API expected<std::shared_ptr<hook>> log_values(log_values_options options);

struct stop_at_time_options {
  std::chrono::system_clock::time_point at = {};
  int64_t look_every = 10;                  ///< Looks at the clock at the multiples of so many steps.
  std::function<std::chrono::system_clock::time_point()> now = {};  ///< The clock; empty: the system's.
};
/// Stops the job at the first multiple of `look_every` at which the time has come; started again, the job goes on. For a limit on the seconds of
/// a job there is `train_spec::max_secs`.
TROUPE_API expected<std::shared_ptr<hook>> stop_at_time(stop_at_time_options options);

struct reduce_on_plateau_options {
  metric_goal goal = {};
  double factor = 0.1;                      ///< Above 0 and below 1: of the learning rate.
  int64_t patience = 10;                    ///< Evaluations without an improvement that are borne; the next one reduces the rate.
  double min_delta = 1e-4;                  ///< An improvement is more than this.
  int64_t cooldown = 0;                     ///< Evaluations after a reduction that do not count.
  double min_factor = 0;                    ///< The rate is not brought below this share of its schedule.
  /// The evaluations of earlier runs of the job, `read_evaluations(dir)`, so that a resumed job counts on where it stood.
  evaluation_history history = {};
};
/// How often these evaluations reduce the rate, and by what: the rule of PyTorch's ReduceLROnPlateau with an absolute threshold, as a function of
/// a history. A metric that an evaluation lacks is key_missing, with those that it has.
struct plateau_state {
  int64_t reductions = 0;
  double rate_factor = 1;                   ///< All reductions together.
};
TROUPE_API expected<plateau_state> look_for_plateau(const reduce_on_plateau_options& options, const evaluation_history& history);
/// Reduces the learning rate from exactly the evaluated step on: the hook holds the job at every evaluation until it has decided.
TROUPE_API expected<std::shared_ptr<hook>> reduce_on_plateau(reduce_on_plateau_options options);

/// Whether the progress of an evaluation is told after so many batches: every one of an evaluation without a limit or of less than 20, else the
/// multiples of a tenth of them (rounded down), and the last.
TROUPE_API bool evaluation_progress_due(int64_t batches, std::optional<int64_t> limit) noexcept;
/// For `eval_spec::hooks`: writes "evaluated 20 of 200 batches", at these.
TROUPE_API std::shared_ptr<hook> log_evaluation_progress(line_writer write = {});

}  // namespace troupe
