// The handle of a session.
#include "estimator/describe.hpp"
#include "estimator/launched_by.hpp"
#include "estimator/session_loops.hpp"
#include "estimator/session_start.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "words/guarded.hpp"
#include "words/moved_from.hpp"
#include "words/text.hpp"
#include "words/told_line.hpp"

#include <atomic>

namespace troupe {

using namespace std::chrono_literals;

namespace {

/// Marks that a thread uses the session, unless another one does.
class user {
 public:
  explicit user(std::atomic<bool>& busy) : busy_(busy), in_(!busy.exchange(true)) {}
  user(const user&) = delete;
  ~user() {
    if (in_)
      busy_.store(false);
  }
  explicit operator bool() const noexcept { return in_; }

 private:
  std::atomic<bool>& busy_;
  bool in_;
};

run_port::value_names names_of(const std::shared_ptr<prepared_job>& job) {
  const auto plan = attempt_plan_of(job);
  run_port::value_names names{plan.outputs, plan.observed, {}};
  for (const auto& o : job->in(mode::train).measured)
    if (std::find(names.metrics.begin(), names.metrics.end(), o.name) == names.metrics.end())
      names.metrics.push_back(o.name);
  return names;
}

}  // namespace

struct session::impl {
  session_options options;
  std::shared_ptr<run_port> port;
  bool saves = false, has_run_hooks = false, recovers = true;
  std::shared_ptr<running_job> running;
  std::shared_ptr<session_view> view;  ///< Of `running`.
  coordinator beside;
  session_loops loops{beside};
  std::atomic<bool> busy = false, closed = false, stops = false;
  int64_t taken_back = 0, recoveries = 0;  ///< Since the last run ended, also those during other calls.
  int64_t went_back = 0;                   ///< Recoveries since the session was opened.

  impl(session_options o, std::shared_ptr<run_port> p, const session_services& s)
    : options(std::move(o)), port(std::move(p)), recovers(s.recovers), beside(*s.beside) {}

  std::chrono::milliseconds grace() const {
    return std::chrono::milliseconds(static_cast<int64_t>(options.stop_grace_period_secs * 1000));
  }
  bool can_cure(const coordinator::stop_request& x) const { return recovers && x.cause && can_be_cured(*x.cause); }
  void count(const run_end& end) {
    taken_back += end.taken_back, recoveries += end.recoveries, went_back += end.recoveries;
    stops = stops || end.stops;
  }
  /// Any thread.
  bool should_stop() const {
    if (closed || stops || running->ended())
      return true;
    const auto asked = beside.requested();
    return asked && !can_cure(*asked);
  }
  /// If work beside the runs has failed with what the job can make good, it goes back to its newest checkpoint, and
  /// that work begins anew.
  void cure() {
    auto asked = beside.requested();
    if (!asked || !can_cure(*asked) || should_stop())
      return;
    loops.interrupt(grace(), options.log);
    const auto end = running->call(
        {.what = session_call::kind::renew, .cause = preemption_by(std::move(*asked->cause))});
    end ? count(*end) : static_cast<void>(stops = true);
    if (!stops)
      loops.begin_again();
  }
  /// Makes a run or a save. If the job recovers meanwhile for work beside it, that begins anew.
  std::optional<run_end> call(const session_call& x) {
    auto end = running->call(x);
    while (end && end->preempted) {
      loops.interrupt(grace(), options.log);
      loops.begin_again();
      end = running->call({.what = session_call::kind::begun_anew});
    }
    return end;
  }
  /// An error of the job, with that of work beside it as a note, unless it has that from the chief.
  error beside_which(error e) const {
    const auto cause = beside.requested_error();
    if (cause && to_text(e).find(preemption_by(*cause).message) == std::string::npos)
      e.notes.push_back("work beside the runs: " + to_text(*cause));
    return e;
  }
  /// Why a call has no end of its own.
  error ended_meanwhile(std::string_view what) {
    stops = true;
    const auto result = running->wait(0ms);
    if (result && !*result)
      return beside_which(result->error());
    const auto now = running->progress();
    if (!result)
      return {errc::deadline_exceeded,
              "the job is " + std::string{to_string(now.now)} + " and has not answered the " + std::string{what}};
    return {errc::state, "the session was asked to stop before the " + std::string{what} + ": it ends at step "
                             + std::to_string((*result)->global_step)};
  }

  struct made {
    run_result result;
    std::optional<error> failure = {};
  };
  /// Of a run that has failed only the recoveries during it are known. `since`: of a step function, `went_back` when it
  /// last saw the state; none before its first run.
  expected<made> run(const run_request& x, bool tells_hooks, std::optional<int64_t>* since = nullptr) {
    if (closed)
      return fail(closed_session());
    const user here{busy};
    if (!here)
      return fail(errc::state, "another thread is in a call of this session: one at a time makes runs and saves");
    cure();
    if (auto asked = beside.requested(); asked && asked->cause && !can_cure(*asked))
      return fail(std::move(*asked->cause));
    if (should_stop()) {
      if (const auto result = running->wait(0ms); result && !*result)
        return fail(beside_which(result->error()));
      return fail(errc::state, "the session should stop, so that no run follows (should_stop)");
    }
    if (x.steps < 1)
      return fail(errc::invalid_argument, "steps of a run must be at least 1, not " + std::to_string(x.steps));
    if (since && since->value_or(went_back) != went_back) {
      made back;
      back.result.recoveries = went_back - **since;
      back.failure = error{errc::aborted, "the job went back to step " + std::to_string(running->progress().step)};
      return back;
    }
    auto right = port->ask(x.what);
    if (right && !(has_run_hooks && tells_hooks))
      right = port->check_complete();
    if (!right)
      return fail(right.error());
    const bool values = port->fetches_values(x.what.fetches);
    auto end = call({.count = x.steps,
                     .values = values,
                     .observed = values && port->fetches_observed(x.what.fetches),
                     .tells_hooks = tells_hooks,
                     .repeats = !since,
                     .first = since && !*since});
    if (!end)
      return fail(ended_meanwhile("run"));
    count(*end);
    if (end->failure)
      return made{{.recoveries = end->recoveries}, std::move(end->failure)};
    if (since)
      *since = went_back;
    made all{{.step = end->step,
              .steps_run = std::max<int64_t>(end->step - end->begins, 0),
              .steps_taken_back = std::exchange(taken_back, 0),
              .recoveries = std::exchange(recoveries, 0)}};
    for (const auto& name : x.what.fetches)
      if (const auto found = end->values.find(name); found != end->values.end())
        all.result.values.insert(*found);
    view->ended(all.result);
    return all;
  }
};

session::session(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
session::session(session&&) noexcept = default;
session& session::operator=(session&& other) noexcept {
  if (this != &other) {
    session before{std::move(*this)};
    impl_ = std::move(other.impl_);
  }
  return *this;
}
session::~session() {
  if (!impl_ || impl_->closed)
    return;
  impl_->loops.end(impl_->grace(), impl_->options.log);
  impl_->view->close();
}

expected<session> open_by(launcher& by, expected<training_job> settled, const session_options& options,
                          std::shared_ptr<follower_time> time, session_services services) {
  if (!settled)
    return fail(settled.error());
  if (!services.beside)
    services.beside = coordinator{{.clean = {}, .passing = {errc::aborted, errc::unavailable}}};
  const auto directory = settled->basis.config.model_dir;
  if (auto made = embed(*settled, options.embedding).and_then([&] {
        return make_session(*settled, options, services);
      });
      !made)
    return fail(made.error());
  if (!options.is_chief)
    if (auto there = wait_for_checkpoint(settled->basis.files, *directory, options, *time); !there)
      return fail(there.error());
  const auto port = settled->session->port;
  auto made = std::make_unique<session::impl>(options, port, services);
  made->saves = settled->basis.config.saves();
  const bool records = settled->basis.config.records() || settled->session->notes_end;
  for (const auto& h : settled->hooks)
    made->has_run_hooks = made->has_run_hooks || dynamic_cast<const run_hook*>(h.get());
  settled->basis.processors = by.processors();
  auto prepared = prepare(std::move(*settled));
  if (!prepared)
    return fail(prepared.error());
  port->name(names_of(*prepared));
  std::vector<component> fed;
  for (const auto& c : (*prepared)->datasets.front().element.components())
    if (std::find(options.feeds.begin(), options.feeds.end(), c.name) != options.feeds.end())
      fed.push_back(c);
  port->bring(std::move(fed), (*prepared)->datasets.front().batch_rows);
  made->running = by.train(std::move(*prepared));
  made->view = std::make_shared<session_view>(made->running, port, records);
  made->loops.watch(made->view);
  if (const auto ready = made->running->ready({})) {
    made->stops = ready->stops;
  } else {
    const auto result = made->running->wait(0ms);
    if (!result || !*result)
      return fail(result ? result->error() : error{errc::deadline_exceeded, "the job has not begun"});
    made->stops = true;  // There is nothing left to train.
  }
  return session{std::move(made)};
}

expected<session> session::open(const estimator& e, const train_spec& training, const session_options& options) {
  local_launcher local;
  return open_by(local, describe(e, training, {}), options);
}

expected<run_result> session::run(const run_request& what) {
  if (!impl_)
    return fail(moved_from("session"));
  auto made = impl_->run(what, true);
  if (!made)
    return fail(std::move(made.error()));
  if (made->failure)
    return fail(std::move(*made->failure));
  return std::move(made->result);
}

bool session::should_stop() { return !impl_ || impl_->should_stop(); }

expected<std::string> session::save() {
  if (!impl_)
    return fail(moved_from("session"));
  if (impl_->closed)
    return fail(closed_session());
  if (!impl_->saves)
    return fail(errc::failed_precondition,
                "this session saves nothing: give a chief's session a model_dir, and a "
                "save_checkpoints_steps or save_checkpoints_secs that is not none");
  const user here{impl_->busy};
  if (!here)
    return fail(errc::state, "another thread is in a call of this session: one at a time makes runs and saves");
  impl_->cure();
  if (impl_->should_stop()) {
    if (const auto result = impl_->running->wait({}); result && !*result)
      return fail(impl_->beside_which(result->error()));
    else if (result)
      return (*result)->checkpoint;  // The job has saved its last state.
  }
  auto end = impl_->call({.what = session_call::kind::save});
  if (!end)
    return fail(impl_->ended_meanwhile("save"));
  impl_->count(*end);
  return std::move(end->checkpoint);
}

void session::request_stop() {
  if (!impl_ || impl_->closed.load())
    return;
  impl_->stops = true;
  impl_->running->stop(stop_reason::request);
}

coordinator session::beside() {
  if (impl_)
    return impl_->beside;
  coordinator none;
  static_cast<void>(none.request_stop(moved_from("session")));
  return none;
}

void session::loop(const std::string& name, std::optional<std::chrono::milliseconds> every,
                   std::function<expected<void>(const loop_context& now)> f) {
  if (impl_ && !impl_->closed)
    impl_->loops.begin({name, every, std::move(f)});
}

expected<variable_values> session::variables(const std::vector<std::string>& names,
                                             std::chrono::milliseconds patience) {
  return impl_ ? impl_->view->variables(names, patience, false)
               : expected<variable_values>{fail(moved_from("session"))};
}

expected<void> session::summarise(const std::map<std::string, double>& values, std::optional<int64_t> step) {
  return impl_ ? impl_->view->summarise(values, step) : expected<void>{fail(moved_from("session"))};
}

job_progress session::progress() const { return impl_ ? impl_->running->progress() : job_progress{}; }

expected<train_result> session::close() {
  if (!impl_)
    return fail(moved_from("session"));
  if (impl_->closed.exchange(true))
    return fail(closed_session());
  impl_->loops.end(impl_->grace(), impl_->options.log);
  impl_->view->close();
  const auto cause = impl_->beside.requested_error();
  if (!impl_->stops)  // Otherwise it ends already, and may still recover while it does.
    impl_->running->stop(stop_reason::request);
  auto result = impl_->running->wait({});
  if (!result)
    return fail(errc::deadline_exceeded, "the job has not ended");
  if (!*result)
    return fail(impl_->beside_which(std::move(result->error())));
  if (!cause)
    return std::move(*result);
  if (!impl_->recovers || !can_be_cured(*cause))
    return fail(*cause);
  tell_line(impl_->options.log, "work beside the runs has failed after the last one: " + to_text(*cause));
  return std::move(*result);
}

// -- step functions ---------------------------------------------------------------------------------

struct step_context::impl {
  session::impl* of = nullptr;
  std::function<void()> stop = {};
  bool stops = false, preempted = false;
  std::optional<int64_t> since = {};

  expected<run_result> run(const run_request& what, bool tells_hooks) {
    if (stops || preempted)
      return fail(errc::state, stops ? "the step function has asked to stop" : "the job has recovered meanwhile");
    auto made = of->run(what, tells_hooks, &since);
    if (!made)
      return fail(std::move(made.error()));
    if (made->failure) {
      preempted = made->result.recoveries > 0;
      return fail(std::move(*made->failure));
    }
    return std::move(made->result);
  }
};

expected<run_result> step_context::run(const run_request& what) { return impl_.run(what, true); }
expected<run_result> step_context::run_alone(const run_request& what) { return impl_.run(what, false); }
void step_context::request_stop() {
  impl_.stops = true;
  impl_.stop();
}

expected<void> session::run_step_fn(const std::function<expected<void>(step_context&)>& f) {
  if (!impl_)
    return fail(moved_from("session"));
  if (!f)
    return fail(errc::invalid_argument, "the step function is an empty function");
  for (;;) {
    step_context::impl now{impl_.get(), [this] { request_stop(); }};
    step_context context{now};
    bool returned = false;
    auto done = guarded("the step function", [&] {
      auto result = f(context);
      returned = true;
      return result;
    });
    if (!now.preempted)
      return now.stops && returned ? expected<void>{} : done;
  }
}

}  // namespace troupe
