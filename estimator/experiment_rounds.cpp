// The schedules that go round: evaluations of what another process commits, and training and evaluation by turns.
#include "estimator/experiment_run.hpp"
#include "words/bounded.hpp"
#include "words/guarded.hpp"

#include <algorithm>

namespace troupe {

namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr auto warned_every = 600s;
/// The shortest round that finds no new checkpoint.
constexpr double idle_secs_min = 5;
constexpr int64_t steps_without_end = 1000;

/// What a round has brought, as its predicate is told.
struct past_round {
  std::optional<std::map<std::string, double>> results = {};  ///< None: there was no round yet.
  std::string checkpoint = {};
};

expected<bool> goes_on(const round_predicate& predicate, const past_round& after) {
  if (!predicate)
    return true;
  return guarded("the predicate of an experiment",
                 [&] { return predicate(after.results ? &*after.results : nullptr, after.checkpoint); });
}

double secs_since(nanoseconds began, nanoseconds now) { return std::chrono::duration<double>(now - began).count(); }

}  // namespace

expected<void> experiment_run::wait_for_commit(std::optional<checkpoint_id> last, bool is_there, double throttle_secs,
                                               std::optional<nanoseconds>& warned) {
  if (const auto now = time_->now(); !warned || now - *warned >= warned_every) {
    warn(is_there ? "there is no new checkpoint in " + *of_.estimator.config.model_dir
                  : "there is no checkpoint yet in " + *of_.estimator.config.model_dir
                        + ": an evaluation begins when there is one");
    warned = now;
  }
  const auto round = std::chrono::duration<double>(std::clamp(throttle_secs, idle_secs_min, 1e9));
  auto commits = follower({.deadline = std::chrono::ceil<std::chrono::milliseconds>(round)});
  commits.last = last;
  const auto next = commits.next();
  return next ? expected<void>{} : fail(next.error());
}

expected<experiment_result> experiment_run::continuous_eval(schedule which, const continuous_eval_options& options) {
  if (auto possible = check(which); !possible)
    return fail(possible.error());
  for (const auto& [name, secs] : {std::pair{"delay_secs", options.delay_secs.value_or(0)},
                                   std::pair{"throttle_delay_secs", options.throttle_delay_secs.value_or(0)}})
    if (!(secs >= 0))
      return fail(errc::invalid_argument, "experiment: " + std::string{name} + " must be at least 0");
  const bool on_train_data = which == schedule::continuous_eval_on_train_data;
  auto spec = evaluation(on_train_data ? "continuous_on_train_data" : "continuous");
  if (on_train_data)
    spec.input = of_.train_data;
  const double throttle = options.throttle_delay_secs.value_or(of_.continuous_eval_throttle_secs);
  wait_secs(options.delay_secs.value_or(of_.eval_delay_secs));

  experiment_result last;
  past_round after;
  std::optional<checkpoint_id> evaluated;
  std::optional<nanoseconds> warned;
  for (;;) {
    const auto again = goes_on(options.predicate, after);
    if (!again)
      return fail(again.error());
    if (!*again || (last.evaluation && has_reached(last.global_step)))
      return last;
    const auto began = time_->now();
    const auto found = follower({}).newest();
    if (!found)
      return fail(found.error());
    const auto& at = *found;
    if (!at || (options.evaluate_checkpoint_only_once && at->id == evaluated)) {
      if (auto waited = wait_for_commit(at ? evaluated : std::nullopt, at.has_value(), throttle, warned); !waited)
        return fail(waited.error());
      after = {.results = std::map<std::string, double>{}};
      continue;
    }
    auto judged = judge(*at, spec, !on_train_data);
    if (!judged)
      return judged;
    last = std::move(*judged);
    after = {.results = last.evaluation->metrics, .checkpoint = last.evaluation->checkpoint};
    evaluated = at->id;
    warned.reset();
    if (!has_reached(last.global_step))
      wait_secs(throttle - secs_since(began, time_->now()));
  }
}

expected<train_result> experiment_run::train_round(int64_t goal) {
  auto spec = training();
  spec.max_steps = goal;
  spec.continue_input = true;
  auto trained = troupe::train(of_.estimator, spec);
  if (!trained || trained->steps_run > 0 || trained->stopped)
    return trained;
  spec.continue_input = false;  // The data have ended.
  trained = troupe::train(of_.estimator, spec);
  if (trained && trained->steps_run == 0 && !trained->stopped)
    return fail(errc::out_of_range, "experiment: the training stands at step " + std::to_string(trained->global_step)
                                        + " of " + std::to_string(goal) + ", and its data have no further batch");
  return trained;
}

expected<experiment_result> experiment_run::continuous_train_and_eval(const round_predicate& predicate) {
  constexpr auto which = schedule::continuous_train_and_eval;
  if (auto possible = check(which); !possible)
    return fail(possible.error());
  const int64_t steps = of_.train_steps_per_iteration.value_or(
      of_.train_steps ? std::max<int64_t>(1, *of_.train_steps / 10) : steps_without_end);
  const auto spec = evaluation("one_pass");
  experiment_result last;
  past_round after;
  for (;;) {
    const auto again = goes_on(predicate, after);
    if (!again)
      return fail(again.error());
    const bool stopped = last.training && last.training->stopped;
    if (!*again || stopped || (last.evaluation && has_reached(last.global_step)))
      return last;
    const auto before = follower({}).newest();
    if (!before)
      return fail(before.error());
    const int64_t from = *before ? (*before)->id.step : 0;
    const int64_t goal = std::min(from + std::min(steps, INT64_MAX - from), of_.train_steps.value_or(INT64_MAX));
    auto trained = goal > from ? train_round(goal) : expected<train_result>{train_result{.global_step = from}};
    if (!trained)
      return fail(trained.error());
    const auto at = newest(which);
    if (!at)
      return fail(at.error());
    auto judged = judge(*at, spec, true);
    if (!judged)
      return judged;
    last = std::move(*judged);
    last.training = std::move(*trained);
    after = {.results = last.evaluation->metrics, .checkpoint = last.evaluation->checkpoint};
  }
}

}  // namespace troupe
