#include "estimator/describe.hpp"
#include "estimator/supervise.hpp"
#include "words/guarded.hpp"
#include "words/told_line.hpp"

#include <mutex>

namespace troupe {

namespace {

/// Services by time take the place of what the configuration says of saves and summaries.
expected<void> set_services(training_job& job, const supervisor_options& options) {
  for (const auto& [name, secs] :
       {std::pair{"save_summaries_secs", options.save_summaries_secs}, {"save_model_secs", options.save_model_secs}}) {
    if (secs && !(*secs >= 0 && *secs <= 3e7))
      return fail(errc::invalid_argument, std::string{name} + " must be in [0, 3e7], not " + std::to_string(*secs));
    if (secs && *secs > 0 && !options.is_chief)
      return fail(errc::state, std::string{name} + " is for the chief's supervisor, and is_chief is false");
  }
  auto& config = job.basis.config;
  config.recovery.attempts_max = 0;
  config.save_steps.reset();
  config.save_secs.reset();
  config.summary_steps = 0;
  config.summary_secs.reset();
  if (!options.is_chief)
    return {};
  if (!config.model_dir) {
    tell_line(options.log, "a supervisor without a model_dir has no services: nothing is saved or recorded");
    return {};
  }
  if (const auto secs = options.save_model_secs.value_or(600); secs > 0)
    config.save_secs = secs;
  if (const auto secs = options.save_summaries_secs.value_or(120); secs > 0)
    config.summary_secs = secs;
  return {};
}

}  // namespace

expected<train_result> supervise(launcher& by, expected<training_job> settled, const supervisor_options& options,
                                 coordinator& together, const std::function<void(session*)>& shows,
                                 const std::function<expected<void>(session&)>& body,
                                 std::shared_ptr<follower_time> time) {
  together.clear_stop();
  const auto not_opened = [&](const error& cause) {
    static_cast<void>(together.request_stop(cause));  // Threads that have enlisted before end, too.
    return fail(cause);
  };
  if (!body)
    return not_opened({errc::invalid_argument, "the body of a managed session is an empty function"});
  if (!settled)
    return not_opened(settled.error());
  if (auto right = set_services(*settled, options); !right)
    return not_opened(right.error());
  session_services services{.notes_end = true, .recovers = false};
  services.beside = together;
  auto opened = open_by(by, std::move(settled),
                        {.is_chief = options.is_chief,
                         .init_fn = options.init_fn,
                         .ready = options.ready,
                         .max_wait_secs = options.max_wait_secs,
                         .recovery_wait_secs = options.recovery_wait_secs,
                         .stop_grace_period_secs = options.stop_grace_secs,
                         .log = options.log},
                        std::move(time), services);
  if (!opened)
    return not_opened(opened.error());
  shows(&*opened);
  together.stop_on_error([&] { return guarded("the body of a managed session", [&] { return body(*opened); }); });
  static_cast<void>(together.request_stop());
  auto joined = together.join({.grace = std::chrono::milliseconds(static_cast<int64_t>(options.stop_grace_secs * 1000)),
                               .ignore_live = options.ignore_live_threads,
                               .log = options.log});
  shows(nullptr);
  auto closed = opened->close();
  if (!joined)
    return fail(joined.error());
  return closed;
}

struct supervisor::impl {
  estimator e;
  train_spec training;
  supervisor_options options;
  coordinator together;
  std::mutex guard = {};
  session* open = nullptr;  ///< Within `managed_session`.

  impl(estimator x, train_spec t, supervisor_options o)
    : e(std::move(x)), training(std::move(t)), options(std::move(o)),
      together(coordinator_options{.clock = options.clock}) {}
};

supervisor::supervisor(estimator e, train_spec training, supervisor_options options)
  : impl_(std::make_unique<impl>(std::move(e), std::move(training), std::move(options))) {}
supervisor::~supervisor() = default;

expected<train_result> supervisor::managed_session(const std::function<expected<void>(session&)>& body) {
  local_launcher local;
  const auto shows = [this](session* now) {
    const std::lock_guard lock{impl_->guard};
    impl_->open = now;
  };
  return supervise(local, describe(impl_->e, impl_->training, {}), impl_->options, impl_->together, shows, body);
}

bool supervisor::should_stop() {
  if (impl_->together.should_stop())
    return true;
  const std::lock_guard lock{impl_->guard};
  return !impl_->open || impl_->open->should_stop();
}

void supervisor::request_stop(std::optional<error> cause) {
  static_cast<void>(impl_->together.request_stop(std::move(cause)));
}

bool supervisor::wait_for_stop(std::chrono::milliseconds patience) { return impl_->together.wait_for_stop(patience); }

void supervisor::loop(const std::string& name, std::optional<std::chrono::milliseconds> every,
                      std::function<expected<void>(const loop_context& now)> f) {
  const std::lock_guard lock{impl_->guard};
  if (impl_->open)
    impl_->open->loop(name, every, std::move(f));
}

expected<void> supervisor::summary_computed(const std::map<std::string, double>& values, std::optional<int64_t> step) {
  const std::lock_guard lock{impl_->guard};
  if (!impl_->open)
    return fail(errc::state, "no managed session is open, so that there is no event file");
  return impl_->open->summarise(values, step);
}

coordinator& supervisor::threads() { return impl_->together; }

}  // namespace troupe
