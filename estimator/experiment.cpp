// The value of an experiment: its options, the names of its schedules, and which of them a task runs.
#include "compute/kernels/elementary.hpp"
#include "estimator/experiment_run.hpp"
#include "words/start_delay.hpp"
#include "words/text.hpp"

#include <troupe/options/experiment_fields.hpp>

#include <algorithm>

namespace troupe {

namespace {

constexpr std::pair<std::string_view, schedule> schedules[] = {
    {"train", schedule::train},
    {"evaluate", schedule::evaluate},
    {"continuous_eval", schedule::continuous_eval},
    {"continuous_eval_on_train_data", schedule::continuous_eval_on_train_data},
    {"train_and_evaluate", schedule::train_and_evaluate},
    {"local_run", schedule::local_run},
    {"continuous_train_and_eval", schedule::continuous_train_and_eval},
    {"run_std_server", schedule::run_std_server},
    {"test", schedule::test}};

template <class T>
expected<void> none_is_null_in(const std::vector<std::shared_ptr<T>>& all, std::string_view what) {
  const auto null = std::find(all.begin(), all.end(), nullptr);
  if (null == all.end())
    return {};
  return fail(errc::invalid_argument, "experiment: " + std::string{what} + "[" + std::to_string(null - all.begin())
                                          + "] is null; leave it out");
}

expected<void> at_least_one(const std::optional<int64_t>& count, std::string_view what) {
  if (!count || *count >= 1)
    return {};
  return fail(errc::invalid_argument,
              "experiment: " + std::string{what} + " must be at least 1, not " + std::to_string(*count));
}

/// The result of a schedule that trains and does not evaluate.
experiment_result of_training(train_result training) {
  experiment_result all{.global_step = training.global_step};
  all.training = std::move(training);
  return all;
}

experiment_result of_evaluation(evaluation_result evaluation) {
  experiment_result all{.global_step = evaluation.global_step};
  all.evaluation = std::move(evaluation);
  return all;
}

}  // namespace

expected<void> validate(const experiment& e) {
  return check_fields(e, "experiment: ")
      .and_then([&] { return at_least_one(e.train_steps, "train_steps"); })
      .and_then([&] { return at_least_one(e.eval_steps, "eval_steps"); })
      .and_then([&] { return none_is_null_in(e.train_hooks, "train_hooks"); })
      .and_then([&] { return none_is_null_in(e.eval_hooks, "eval_hooks"); })
      .and_then([&] { return none_is_null_in(e.saving_listeners, "saving_listeners"); })
      .and_then([&] { return validate(std::span<const exporter>{e.exporters}); });
}

start_delay start_delay_of(int64_t id, bool by_step) noexcept {
  const int64_t before = std::max<int64_t>(id, 0);
  if (by_step)
    return {.step = static_cast<int64_t>(8000 * elementary::log(static_cast<double>(before) + 1))};
  return {.secs = start_delay_secs(before - 1, 5, 60)};
}

std::string_view to_string(schedule s) noexcept {
  for (const auto& [name, one] : schedules)
    if (one == s)
      return name;
  return "?";
}

std::vector<schedule> all_schedules() {
  std::vector<schedule> all;
  for (const auto& [name, one] : schedules)
    all.push_back(one);
  return all;
}

expected<schedule> parse_schedule(std::string_view name) {
  for (const auto& [known, one] : schedules)
    if (known == name)
      return one;
  return fail(errc::invalid_argument, "there is no schedule " + quoted(name) + ": the schedules are "
                                          + joined(schedules, ", ", [](const auto& s) { return s.first; }));
}

schedule_data data_of(schedule s) noexcept {
  using enum schedule;
  const bool only_evaluates = s == evaluate || s == continuous_eval;
  const bool only_trains = s == train || s == continuous_eval_on_train_data;
  return {.train = !only_evaluates && s != run_std_server, .eval = !only_trains && s != run_std_server};
}

expected<schedule> default_schedule(const std::optional<cluster>& c) {
  if (!c || c->jobs.empty())
    return schedule::train_and_evaluate;
  const auto& type = c->task.type;
  if (type.empty())
    return fail(errc::invalid_argument,
                "no default schedule: the process belongs to a cluster, and its task has no type");
  if (type == "master")
    return schedule::train_and_evaluate;
  if (type == "ps")
    return schedule::run_std_server;
  if (type == "worker")
    return schedule::train;
  return fail(errc::invalid_argument, "there is no default schedule for a task of the type " + quoted(type)
                                          + ": a master, a worker and a ps have one; name a schedule");
}

expected<train_result> experiment::train(std::optional<double> delay_secs) const {
  return experiment_run{*this}.train(delay_secs);
}
expected<evaluation_result> experiment::evaluate(std::optional<double> delay_secs, std::string name) const {
  return experiment_run{*this}.evaluate(delay_secs, name);
}
expected<experiment_result> experiment::continuous_eval(const continuous_eval_options& options) const {
  return experiment_run{*this}.continuous_eval(schedule::continuous_eval, options);
}
expected<experiment_result> experiment::continuous_eval_on_train_data(const continuous_eval_options& options) const {
  return experiment_run{*this}.continuous_eval(schedule::continuous_eval_on_train_data, options);
}
expected<experiment_result> experiment::train_and_evaluate() const {
  return experiment_run{*this}.train_and_evaluate(schedule::train_and_evaluate, min_eval_frequency);
}
expected<experiment_result> experiment::local_run() const {
  return experiment_run{*this}.train_and_evaluate(schedule::local_run, local_eval_frequency.value_or(0));
}
expected<experiment_result> experiment::continuous_train_and_eval(const round_predicate& predicate) const {
  return experiment_run{*this}.continuous_train_and_eval(predicate);
}
expected<experiment_result> experiment::run_std_server() const { return experiment_run{*this}.run_std_server(); }
expected<experiment_result> experiment::test() const { return experiment_run{*this}.test(); }

expected<experiment_result> run_experiment(const experiment& e, std::optional<schedule> which) {
  const auto chosen = which ? expected<schedule>{*which} : default_schedule(e.estimator.cluster);
  if (!chosen)
    return fail(chosen.error());
  switch (*chosen) {
    case schedule::train: return e.train().map(of_training);
    case schedule::evaluate: return e.evaluate().map(of_evaluation);
    case schedule::continuous_eval: return e.continuous_eval();
    case schedule::continuous_eval_on_train_data: return e.continuous_eval_on_train_data();
    case schedule::train_and_evaluate: return e.train_and_evaluate();
    case schedule::local_run: return e.local_run();
    case schedule::continuous_train_and_eval: return e.continuous_train_and_eval();
    case schedule::run_std_server: return e.run_std_server();
    case schedule::test: return e.test();
  }
  return fail(errc::invalid_argument, "there is no schedule " + std::to_string(static_cast<int>(*chosen)));
}

}  // namespace troupe
