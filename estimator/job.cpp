// The handle of a running job, and the calls that start one and wait for it.
#include "cluster/task_duties.hpp"
#include "estimator/describe.hpp"
#include "estimator/job_impl.hpp"
#include "estimator/job_log.hpp"
#include "estimator/launched_by.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "words/moved_from.hpp"

#include <troupe/job.hpp>

namespace troupe {

using namespace std::chrono_literals;

job::job(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
job::job(job&&) noexcept = default;
job& job::operator=(job&&) noexcept = default;
job::~job() = default;

job_progress job::progress() const { return impl_ ? impl_->running->progress() : job_progress{}; }
expected<job_report> job::report(std::chrono::milliseconds deadline) {
  if (!impl_)
    return fail(moved_from("job"));
  return impl_->running->report(deadline);
}
void job::save() {
  if (impl_)
    impl_->running->save();
}
void job::pause() {
  if (impl_)
    impl_->running->pause();
}
void job::resume() {
  if (impl_)
    impl_->running->resume();
}
void job::stop(stop_reason reason) {
  if (impl_)
    impl_->running->stop(reason);
}
void job::abort() {
  if (impl_)
    impl_->running->abort();
}

expected<train_result> job::wait(std::optional<std::chrono::milliseconds> deadline) {
  if (!impl_)
    return fail(moved_from("job"));
  if (auto result = impl_->running->wait(deadline))
    return *result;
  const auto now = progress();
  return fail(errc::deadline_exceeded, "the job is " + std::string{to_string(now.now)} + " at step "
                                           + std::to_string(now.step) + " and did not end within "
                                           + std::to_string(deadline->count()) + " ms");
}

expected<void> job::wait_until(int64_t step, std::optional<std::chrono::milliseconds> deadline) {
  if (!impl_)
    return fail(moved_from("job"));
  const bool in_time = impl_->running->reach(step, deadline);
  const auto now = progress();
  if (now.step >= step)
    return {};
  if (!in_time)
    return fail(errc::deadline_exceeded, "the job is " + std::string{to_string(now.now)} + " at step "
                                             + std::to_string(now.step) + " and did not come to step "
                                             + std::to_string(step) + " within " + std::to_string(deadline->count())
                                             + " ms");
  const auto result = impl_->running->wait(0ms);
  if (!result)
    return {};  // It was there, and has gone back to an earlier commit since.
  if (!*result)
    return fail(result->error());
  return fail(errc::state,
              "the job ended at step " + std::to_string(now.step) + ", before step " + std::to_string(step));
}

expected<std::optional<train_result>> job::wait_for(std::chrono::milliseconds duration) {
  if (!impl_)
    return fail(moved_from("job"));
  auto result = impl_->running->wait(duration);
  if (!result)
    return std::optional<train_result>{};
  return result->map([](const train_result& r) { return std::optional{r}; });
}

namespace {

expected<job> start_following(launcher& by, expected<follower_job> settled, const start_options& options) {
  if (!settled)
    return fail(settled.error());
  if (options.log)
    settled->hooks.insert(settled->hooks.begin(), make_job_log(options.log));
  settled->basis.processors = by.processors();
  auto prepared = prepare(std::move(*settled));
  if (!prepared)
    return fail(prepared.error());
  return job{std::make_unique<job::impl>(job::impl{.running = by.follow(std::move(*prepared)), .is_follower = true})};
}

}  // namespace

expected<job> start_by(launcher& by, const estimator& e, const train_spec& training, const eval_specs& evaluations,
                       const start_options& options) {
  if (follows_a_chief(e))
    return start_following(by, describe_follower(e, training, evaluations), options);
  return start_by(by, describe(e, training, evaluations), options);
}

expected<void> embed(training_job& job, const start_options& options) {
  if (options.executor_deadline < 1ms || options.executor_deadline > 24h)
    return fail(errc::invalid_argument, "executor_deadline must be in [1, 86400000] ms, not "
                                            + std::to_string(options.executor_deadline.count()));
  job.hook_thread = std::make_shared<hook_calls>(options.executor, options.executor_deadline);
  // The executor's deadline must expire before the chief's deadline for hooks.
  auto& hooks = job.basis.deadlines.hooks;
  hooks = std::max(hooks, options.executor_deadline + 30s);
  if (options.log)
    job.log = make_job_log(options.log);
  return {};
}

expected<job> start_by(launcher& by, expected<training_job> settled, const start_options& options) {
  if (!settled)
    return fail(settled.error());
  if (auto right = embed(*settled, options); !right)
    return fail(right.error());
  settled->basis.processors = by.processors();
  auto prepared = prepare(std::move(*settled));
  if (!prepared)
    return fail(prepared.error());
  const auto claim = (*prepared)->basis().config.saves() ? (*prepared)->claim : nullptr;
  return job{std::make_unique<job::impl>(job::impl{.running = by.train(std::move(*prepared)), .claim = claim})};
}

expected<job> start(const estimator& e, const train_spec& training, const eval_specs& evaluations,
                    const start_options& options) {
  local_launcher local;
  return start_by(local, e, training, evaluations, options);
}

namespace {

/// The result of a call whose goal an earlier call has reached. Nothing if steps are left, or if the directory leaves
/// any doubt, which the job itself then resolves.
std::optional<train_result> nothing_left(const estimator& e, const train_spec& training) {
  const auto settled = describe(e, training, {});
  if (!settled || !settled->max_steps || !settled->basis.config.saves())
    return std::nullopt;
  const auto store = checkpoint_store::open(posix_file_system(), *e.config.model_dir, {.read_only = true});
  const auto newest = store ? (*store)->newest() : std::nullopt;
  if (!newest || newest->step < *settled->max_steps)
    return std::nullopt;
  const auto info = (*store)->inspect(*newest);
  if (!info)
    return std::nullopt;
  return train_result{.global_step = newest->step,
                      .checkpoint = info->prefix,
                      .remark = "nothing to train: " + info->prefix + " stands at step " + std::to_string(newest->step)
                                + " already, and the job ends at " + std::to_string(*settled->max_steps)};
}

}  // namespace

expected<train_result> train(const estimator& e, const train_spec& training) {
  if (auto may = e.cluster ? may_train(*e.cluster) : expected<void>{}; !may)
    return fail(may.error());
  if (auto result = nothing_left(e, training))
    return std::move(*result);
  auto running = start(e, training);
  return running ? running->wait() : expected<train_result>{fail(running.error())};
}

eval_specs::eval_specs() = default;
eval_specs::eval_specs(eval_spec one) { all_.push_back(std::move(one)); }
eval_specs::eval_specs(std::initializer_list<eval_spec> several) : all_(several) {}
eval_specs::eval_specs(std::vector<eval_spec> several) : all_(std::move(several)) {}
eval_specs::eval_specs(const std::optional<eval_spec>& one) {
  if (one)
    all_.push_back(*one);
}

expected<train_result> train_and_evaluate(const estimator& e, const train_spec& training, const eval_spec& evaluation) {
  return train_and_evaluate(e, training, eval_specs{evaluation});
}

expected<train_result> train_and_evaluate(const estimator& e, const train_spec& training,
                                          const eval_specs& evaluations) {
  auto running = start(e, training, evaluations);
  return running ? running->wait() : expected<train_result>{fail(running.error())};
}

expected<evaluation_result> evaluate_by(launcher& by, const estimator& e, const eval_spec& evaluation,
                                        const checkpoint_ref& which) {
  auto settled = describe(e, evaluation, which);
  if (!settled)
    return fail(settled.error());
  settled->basis.processors = by.processors();
  auto prepared = prepare(std::move(*settled));
  if (!prepared)
    return fail(prepared.error());
  return by.evaluate(std::move(*prepared))->wait();
}

expected<evaluation_result> evaluate(const estimator& e, const eval_spec& evaluation, const checkpoint_ref& which) {
  local_launcher local;
  return evaluate_by(local, e, evaluation, which);
}

}  // namespace troupe
