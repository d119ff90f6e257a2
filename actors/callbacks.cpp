#include "actors/callbacks.hpp"

#include "actors/decisions.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// A hook's wishes become requests to the chief. Valid during one call.
class control final : public job_control {
 public:
  explicit control(callbacks_state& state) : state_(state) {}
  void save() override { state_.self->send(state_.chief, request{request::save}); }
  void stop() override { state_.self->send(state_.chief, request{request::stop}); }

 private:
  callbacks_state& state_;
};

}  // namespace

void callbacks_state::on_fact(const fact& x) {
  // Only an exception can be thrown here by code that is not ours; it becomes the job's error, not a dead thread.
  try {
    show(x);
  } catch (const std::exception& e) {
    self->send(chief, failure{0, error{errc::state, std::string{"an exception left a hook: "} + e.what(), {}, options.name, x.at}});
  } catch (...) {
    self->send(chief, failure{0, error{errc::state, "an exception left a hook", {}, options.name, x.at}});
  }
  if (x.what == fact::begin_at) {
    answered all{x.at, true};
    for (const auto& of_hook : needs)
      all.needs.insert(all.needs.end(), of_hook.begin(), of_hook.end());
    self->send(chief, std::move(all));
  } else if (x.gate || x.what == fact::end_at) {
    self->send(chief, answered{x.at, false, x.what == fact::end_at});
  }
}

void callbacks_state::show(const fact& x) {
  control job{*this};
  switch (x.what) {
    case fact::begin_at:
      needs.assign(options.hooks.size(), {});  // Whole even if one of them throws.
      for (size_t h = 0; h < options.hooks.size(); ++h)
        needs[h] = options.hooks[h]->begin(x.at);
      break;
    case fact::event:
      for (auto& h : options.hooks)
        h->on_event(x.news, job);
      break;
    case fact::step: {
      step_facts facts{x.at};
      for (size_t i = 0; i < std::min(options.outputs.size(), x.values.values.size()); ++i)
        facts.values[options.outputs[i]] = x.values.values[i];
      for (size_t h = 0; h < options.hooks.size(); ++h) {
        const auto wants = [&](const need& n) { return next_need(x.at - 1, n) == x.at; };
        if (std::any_of(needs[h].begin(), needs[h].end(), wants))
          options.hooks[h]->at(facts, job);
      }
      break;
    }
    case fact::end_at:
      for (auto& h : options.hooks)
        h->on_event(x.news, job);
      for (auto& h : options.hooks)
        if (x.news.failure)
          h->on_abort(*x.news.failure);
        else
          h->end(x.at);
      break;
  }
}

callbacks_actor::behavior_type callbacks(callbacks_actor::stateful_pointer<callbacks_state> self, callbacks_options options,
                                         chief_actor chief) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.chief = std::move(chief);
  return {
    [&state](const fact& x) { state.on_fact(x); },
  };
}

}  // namespace troupe
