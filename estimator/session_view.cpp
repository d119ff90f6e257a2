#include "estimator/session_view.hpp"

namespace troupe {

error closed_session() { return {errc::state, "the session is closed"}; }

std::shared_ptr<running_job> session_view::job() const {
  const std::lock_guard lock{guard_};
  return job_;
}

void session_view::close() {
  const auto before = job();
  if (!before)
    return;
  const auto now = before->progress();
  const std::lock_guard lock{guard_};
  at_the_end_ = now;
  job_.reset();
}

job_progress session_view::progress() const {
  if (const auto now = job())
    return now->progress();
  const std::lock_guard lock{guard_};
  return at_the_end_;
}

void session_view::end_loops(bool now) {
  loops_end_ = now;
  if (const auto running = job())
    running->look_again();
}

void session_view::ended(const run_result& x) {
  const std::lock_guard lock{guard_};
  last_run_ = x;
}

run_result session_view::last_run() const {
  const std::lock_guard lock{guard_};
  return last_run_;
}

expected<variable_values> session_view::variables(const std::vector<std::string>& names,
                                                  std::chrono::milliseconds patience, bool for_loop) const {
  const auto running = job();
  if (!running)
    return fail(closed_session());
  if (names.empty())
    return fail(errc::invalid_argument, "no variable is named");
  const auto given_up = [&] { return for_loop && loops_end_; };
  auto found = running->read(names, patience, given_up);
  if (!found && given_up())
    return fail(errc::state, "the loops beside the runs end");
  if (!found && running->ended())
    return fail(errc::state, "the job has ended, so that nobody has its variables: they are in its last checkpoint");
  if (!found)
    return fail(errc::deadline_exceeded, "the job is " + std::string{to_string(running->progress().now)}
                                             + " and has not read the variables within "
                                             + std::to_string(patience.count()) + " ms");
  if (found->failure)
    return fail(std::move(*found->failure));
  return variable_values{found->step, std::move(found->values)};
}

expected<void> session_view::summarise(const std::map<std::string, double>& values, std::optional<int64_t> step) const {
  const auto running = job();
  if (!running)
    return fail(closed_session());
  if (!records_)
    return fail(errc::state,
                "this session has no event file: give a chief's session a model_dir, and a save_summary_steps above 0 "
                "or a save_summary_secs");
  if (!port_->add_values({step.value_or(running->progress().step), values}))
    return fail(errc::resource_exhausted,
                std::to_string(run_port::values_max)
                    + " calls of summarise wait for the next record or checkpoint: run steps between them, or give one "
                      "call many values");
  return {};
}

job_progress loop_context::progress() const { return view_.progress(); }
run_result loop_context::last_run() const { return view_.last_run(); }
expected<variable_values> loop_context::variables(const std::vector<std::string>& names,
                                                  std::chrono::milliseconds patience) const {
  auto found = view_.variables(names, patience, true);
  seen_end_ = seen_end_ || (!found && found.error().category == errc::state);
  return found;
}
expected<void> loop_context::summarise(const std::map<std::string, double>& values, std::optional<int64_t> step) const {
  return view_.summarise(values, step);
}

}  // namespace troupe
