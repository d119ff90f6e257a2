#include "estimator/experiment_run.hpp"

#include "estimator/describe.hpp"
#include "estimator/launched_by.hpp"
#include "input/streams/refused.hpp"
#include "storage/checkpoints/checkpoint_reader.hpp"
#include "words/bounded.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

milliseconds in_ms(double secs) { return bounded(milliseconds{static_cast<int64_t>(std::min(secs, 1e10) * 1000)}); }

bool is_absent(const dataset& data) { return data.last_stage() == input::absent(); }

}  // namespace

// -- what schedules have in common ---------------------------------------------------------------

expected<void> experiment_run::check(schedule which) const {
  if (auto valid = validate(of_); !valid)
    return valid;
  const auto refuse = [which](const std::string& why) {
    return fail(errc::invalid_argument, "experiment: " + std::string{to_string(which)} + " " + why);
  };
  const auto reads = data_of(which);
  if (reads.train && is_absent(of_.train_data))
    return refuse("needs train_data, and there are none");
  if (reads.eval && is_absent(of_.eval_data))
    return refuse("needs eval_data, and there are none");
  if (which == schedule::train)
    return {};
  if (!of_.estimator.config.model_dir)
    return refuse("needs a model_dir: without one there is no checkpoint to evaluate");
  if (!reads.train || !reads.eval || !of_.estimator.cluster)
    return {};
  const auto task = describe_task(*of_.estimator.cluster, of_.estimator.config);
  if (!task)
    return fail(task.error());
  if (!task->trains || !task->evaluates)
    return refuse("trains and evaluates in this process, and a task of the type "
                  + quoted(of_.estimator.cluster->task.type) + " does not: run as master, or name another schedule");
  return {};
}

/// A delay that a call brings. Not a number, it is none of at least 0.
static expected<void> check_delay(std::optional<double> delay_secs) {
  if (!delay_secs || *delay_secs >= 0)
    return {};
  return fail(errc::invalid_argument, "experiment: delay_secs must be at least 0, not " + shortest_text(*delay_secs));
}

void experiment_run::wait_secs(double secs) {
  const auto until = time_->now() + in_ms(secs);
  for (auto now = time_->now(); now < until; now = time_->now())
    time_->wait(nullptr, std::chrono::ceil<milliseconds>(until - now));
}

void experiment_run::warn(const std::string& text) const {
  if (of_.on_warning)
    of_.on_warning(text);
}

commit_stream::impl experiment_run::follower(commits_options options) const {
  return {.files = posix_file_system(),
          .directory = *of_.estimator.config.model_dir,
          .options = std::move(options),
          .time = time_};
}

expected<committed_checkpoint> experiment_run::newest(schedule which) const {
  auto found = follower({}).newest();
  if (!found)
    return fail(found.error());
  if (!*found)
    return fail(errc::not_found,
                "experiment: " + std::string{to_string(which)} + " found no checkpoint in "
                    + *of_.estimator.config.model_dir
                    + ": a save_checkpoints_steps or save_checkpoints_secs that is not none is needed");
  return std::move(**found);
}

train_spec experiment_run::training() const {
  return {.input = of_.train_data,
          .max_steps = of_.train_steps,
          .hooks = of_.train_hooks,
          .saving_listeners = of_.saving_listeners};
}

eval_spec experiment_run::evaluation(std::string name) const {
  return {.input = of_.eval_data,
          .steps = of_.eval_steps,
          .name = std::move(name),
          .hooks = of_.eval_hooks,
          .exporters = of_.exporters,
          .exports_like = of_.exports_like};
}

expected<evaluation_result> experiment_run::evaluate_once(const eval_spec& spec, const checkpoint_ref& which) const {
  auto result = troupe::evaluate(of_.estimator, spec, which);
  if (result)
    for (const auto& text : result->warnings)
      warn(text);
  return result;
}

expected<experiment_result> experiment_run::judge(const committed_checkpoint& at, const eval_spec& spec,
                                                  bool exports) const {
  // The evaluator holds the checkpoint only until it has a result.
  auto held = checkpoint_store::open(posix_file_system(), *of_.estimator.config.model_dir, {.read_only = true})
                  .and_then([&](const std::unique_ptr<checkpoint_store>& store) { return store->read(at.id); });
  if (!held)
    return fail(held.error());
  auto result = evaluate_once(spec, checkpoint_ref::of_path(at.prefix));
  if (!result)
    return fail(result.error());
  experiment_result judged{.global_step = result->global_step};
  judged.evaluation = std::move(*result);
  if (auto exported = exports ? export_to(judged, spec, false) : expected<void>{}; !exported)
    return fail(exported.error());
  return judged;
}

expected<void> experiment_run::export_to(experiment_result& into, const eval_spec& spec, bool again) const {
  const auto run = exporting_of(of_.estimator, spec);
  if (!run)
    return {};
  for (const bool is_final : {false, true}) {
    if (is_final && !has_reached(into.global_step))
      break;
    auto paths = guarded("an exporter", [&] {
      return run({}, {into.evaluation->metrics, into.evaluation->checkpoint, is_final, again});
    });
    if (!paths)
      return fail(paths.error());
    into.exports.resize(paths->size());
    for (size_t i = 0; i < paths->size(); ++i)
      if (!(*paths)[i].empty())
        into.exports[i] = std::move((*paths)[i]);
  }
  return {};
}

expected<void> experiment_run::wait(const start_delay& before) {
  wait_secs(before.secs);
  if (before.step <= 0)
    return {};
  if (!of_.estimator.config.model_dir)
    return fail(errc::invalid_argument,
                "experiment: delay_workers_by_global_step needs a model_dir, where the steps of "
                "the chief are seen");
  const double secs = of_.estimator.config.session_creation_timeout_secs;
  auto commits = follower({.deadline = in_ms(secs)});
  for (;;) {
    auto next = commits.next();
    if (!next)
      return fail(next.error());
    if (!*next)
      return fail(errc::deadline_exceeded, "this task waits for the chief to reach step " + std::to_string(before.step)
                                               + ", and " + commits.directory + " had no new checkpoint within "
                                               + shortest_text(secs) + " s");
    if ((*next)->id.step >= before.step)
      return {};
  }
}

/// The result of a job, once all of its actors have ended.
static expected<train_result> result_of(expected<training_job> settled) {
  local_launcher local;
  auto running = start_by(local, std::move(settled), {});
  return running ? running->wait() : fail(running.error());
}

// -- schedules -----------------------------------------------------------------------------------

expected<train_result> experiment_run::train(std::optional<double> delay_secs) {
  if (auto possible = check(schedule::train).and_then([&] { return check_delay(delay_secs); }); !possible)
    return fail(possible.error());
  if (const auto settled = describe(of_.estimator, training(), {}); !settled)
    return fail(settled.error());  // Before the delay.
  const auto id = of_.estimator.cluster ? of_.estimator.cluster->task.index : 0;
  const auto delay = delay_secs ? start_delay{.secs = *delay_secs}
                                : start_delay_of(id, of_.delay_workers_by_global_step);
  if (auto waited = wait(delay); !waited)
    return fail(waited.error());
  return troupe::train(of_.estimator, training());
}

expected<evaluation_result> experiment_run::evaluate(std::optional<double> delay_secs, const std::string& name) {
  if (auto possible = check(schedule::evaluate).and_then([&] { return check_delay(delay_secs); }); !possible)
    return fail(possible.error());
  wait_secs(delay_secs.value_or(of_.eval_delay_secs));
  return evaluate_once(evaluation(name), checkpoint_ref::newest());
}

expected<experiment_result> experiment_run::train_and_evaluate(schedule which, int64_t least_steps) {
  if (auto possible = check(which); !possible)
    return fail(possible.error());
  auto spec = evaluation(of_.checkpoint_and_export ? "intermediate_export" : "");
  spec.throttle_secs = of_.checkpoint_and_export ? 0 : of_.check_interval_secs;
  spec.sanity_batches = 0;  // The first checkpoint is evaluated.
  auto within = spec;
  if (!of_.checkpoint_and_export)
    within.exporters.clear();
  auto job = describe(of_.estimator, training(), within);
  if (!job)
    return fail(job.error());
  job->evaluates_first = true;
  if (!of_.checkpoint_and_export && least_steps == 0)
    job->evaluations.clear();
  else if (!of_.checkpoint_and_export)
    job->evaluations.front().least_steps = least_steps;
  auto trained = result_of(std::move(job));
  if (!trained)
    return fail(trained.error());
  const auto last = newest(which);
  if (!last)
    return fail(last.error());
  expected<experiment_result> all = experiment_result{.global_step = trained->global_step};
  // A job that was stopped leaves its last checkpoint without an evaluation: results of an earlier one are not its.
  if (const auto found = trained->evaluations.find(spec.name);
      found != trained->evaluations.end() && found->second.at("global_step") == static_cast<double>(last->id.step))
    all->evaluation = evaluation_result{.global_step = trained->global_step,
                                        .metrics = found->second,
                                        .checkpoint = last->prefix,
                                        .arrays = trained->arrays};
  if (of_.checkpoint_and_export)
    all->exports = trained->exports[spec.name];
  else if (!all->evaluation && trained->stopped)
    all->exports = {};
  else if (!all->evaluation)
    all = judge(*last, spec, true);
  else if (auto exported = export_to(*all, spec, trained->steps_run == 0); !exported)
    return fail(exported.error());
  if (all)
    all->training = std::move(*trained);
  return all;
}

expected<experiment_result> experiment_run::run_std_server() {
  if (auto valid = validate(of_); !valid)
    return fail(valid.error());
  const auto& c = of_.estimator.cluster;
  if (!c || c->jobs.empty())
    return fail(errc::invalid_argument,
                "experiment: run_std_server needs a cluster with a task of the type 'ps', and "
                "this process works alone");
  const auto task = describe_task(*c, of_.estimator.config);
  if (!task)
    return fail(task.error());
  if (task->kind != task_kind::parameter_server)
    return fail(errc::invalid_argument,
                "experiment: run_std_server is for a task of the type 'ps', not " + quoted(c->task.type));
  auto running = start(of_.estimator, training());
  auto ended = running ? running->wait() : fail(running.error());
  if (!ended)
    return fail(ended.error());
  experiment_result all{.global_step = ended->global_step};
  all.training = std::move(*ended);
  return all;
}

expected<experiment_result> experiment_run::test() {
  if (auto possible = check(schedule::test); !possible)
    return fail(possible.error());
  auto one_step = training();
  one_step.max_steps = std::nullopt;
  one_step.steps = 1;
  auto trained = troupe::train(of_.estimator, one_step);
  if (!trained)
    return fail(trained.error());
  auto one_batch = evaluation("one_pass");
  one_batch.steps = 1;
  one_batch.hooks.clear();
  const auto at = newest(schedule::test);
  auto all = at ? judge(*at, one_batch, true) : fail(at.error());
  if (all)
    all->training = std::move(*trained);
  return all;
}

}  // namespace troupe
