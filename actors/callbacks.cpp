#include "actors/callbacks.hpp"

#include "actors/decisions.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// A hook's wishes become requests to the chief. Valid during one call, on whatever thread that is.
class control final : public job_control {
 public:
  explicit control(callbacks_state& state) : state_(state) {}
  void save() override { caf::anon_send(state_.chief, request{request::save}); }
  void stop() override { caf::anon_send(state_.chief, request{request::stop}); }

 private:
  callbacks_state& state_;
};

}  // namespace

void callbacks_state::on_fact(const fact& x) {
  // What hooks throw becomes the job's error, not a dead thread.
  control job{*this};
  if (options.log && (x.what == fact::event || x.what == fact::end_at))
    check(called([&] { options.log->on_event(x.news, job); }, "the job's logger"), x.at);
  if (x.what == fact::begin_at)
    needs.assign(options.hooks.size(), {});  // Whole even if one of them throws, or none is called.
  if (!options.hooks.empty())
    check(options.turns->call([&] { show(x); }), x.at);
  answered answer{x.at, x.what == fact::begin_at, x.what == fact::end_at, {}, x.gate, x.number};
  if (answer.at_begin)
    for (const auto& of_hook : needs)
      answer.needs.insert(answer.needs.end(), of_hook.begin(), of_hook.end());
  self->send(chief, std::move(answer));
}

void callbacks_state::check(const expected<void>& call, int64_t at) {
  if (!call)
    self->send(chief, failure{0, error{call.error().category, call.error().message, {}, options.name, at}});
}

/// The actor waits meanwhile, so its state is read here on whatever thread this is; it says nothing itself.
void callbacks_state::show(const fact& x) {
  control job{*this};
  switch (x.what) {
    case fact::begin_at:
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
