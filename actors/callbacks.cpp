#include "actors/callbacks.hpp"

#include "messages/counted.hpp"
#include "words/guarded.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

/// Turns a hook's wishes into requests to the chief. Valid only during one call, on that call's thread.
class control final : public job_control {
 public:
  explicit control(callbacks_state& state) : state_(state) {}
  void save() override { caf::anon_send(state_.driver, request{request::save}); }
  void stop() override { caf::anon_send(state_.driver, request{request::stop}); }
  void scale_rate(double factor) override {
    caf::anon_send(state_.driver, request{request::scale_rate, false, factor});
  }
  void retire(const group_hook& of) {
    caf::anon_send(state_.driver, request{request::retire_group, false, 0, of.group, of.begins_at});
  }

 private:
  callbacks_state& state_;
};

}  // namespace

void callbacks_state::on_fact(const fact& x) {
  if (!ended)
    show(x);
  ended = ended || x.what == fact::end_at;
  if (x.what == fact::begin_at)
    self->send(driver, hooks_ready{x.number, hooks.steps(), hooks.holds(), hooks.observes(), hooks.last(),
                                   hooks.loops(), hooks.traces(), !listeners.empty(), hooks.runs()});
  else if (x.what == fact::end_at)
    self->send(driver, hooks_ended{x.number});
  else
    self->send(driver, answered{x.number, x.at, x.gate, x.what == fact::before_run ? hooks.fetches() : fetch_kinds{0}});
}

void callbacks_state::show(const fact& x) {
  // An exception of a hook becomes the job's error and does not end the thread.
  control job{*this};
  if (options.log && (x.what == fact::event || x.what == fact::end_at)) {
    const auto marked = current_call::enter(&options.hook_thread->under_way, "the job's logger", {});
    if (auto told = guarded("the job's logger", [&] { options.log->on_event(x.news, job); }); !told)
      fail_at(x.at, std::move(told.error()));
  }
  if (hooks.empty() && listeners.empty() && !x.of_plan)
    return;
  // This actor waits for the call, so the calling thread may use its state; the actor sends nothing before the call
  // returns.
  std::vector<error> thrown;
  const auto called = options.hook_thread->call([&] {
    thrown = listeners.show(x, job);
    for (auto& e : hooks.show(x, job, [&job](const group_hook& of) { job.retire(of); }))
      thrown.push_back(std::move(e));
  });
  for (auto& e : thrown)
    fail_at(x.at, std::move(e));
  if (!called)
    fail_at(x.at, called.error());
  else if (!*called && x.what == fact::end_at && !x.news.failure)
    fail_at(x.at, error{errc::state, "end() of the hooks was not called: no hook is called any more"});
}

void callbacks_state::fail_at(int64_t step, error cause) {
  cause.source = options.name;
  cause.step = step;
  self->send(driver, failure{0, options.id, std::move(cause)});
}

callbacks_actor::behavior_type callbacks(callbacks_actor::stateful_pointer<callbacks_state> self,
                                         callbacks_options options, hook_listener_actor driver) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.hooks = hook_roll{state.options.hooks, {}, state.options.runs};
  state.listeners = listener_roll{state.options.listeners};
  state.hooks.mark_in(&state.options.hook_thread->under_way);
  state.listeners.mark_in(&state.options.hook_thread->under_way);
  state.driver = std::move(driver);
  return counted<callbacks_actor>(
      state, [&state](const name_values& x) { state.hooks.name(x); }, [&state](const fact& x) { state.on_fact(x); },
      answers_probe(state));
}

}  // namespace troupe
