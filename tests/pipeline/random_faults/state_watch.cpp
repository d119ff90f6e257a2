#include "pipeline/random_faults/state_watch.hpp"

#include "actors/chief/chief.hpp"

#include <caf/send.hpp>

namespace troupe::test::random_faults {

namespace {

/// The state of a living actor of this type; null if it has ended or is of another type.
template <class Handle, class State>
const State* state_of(const caf::strong_actor_ptr& node) {
  const auto* actor = node ? dynamic_cast<typename Handle::template stateful_pointer<State>>(node->get()) : nullptr;
  return actor && !actor->getf(caf::abstract_actor::is_terminated_flag) ? &actor->state : nullptr;
}

}  // namespace

void state_watch::saw(const std::string& to, const caf::type_erased_tuple& content) {
  if (to != "chief" || content.match_elements<caf::down_msg>() || content.match_elements<caf::exit_msg>())
    return;  // The chief counts what it handles without these.
  ++sent_to_chief_;
  if (!stop_number_ && content.match_elements<request>() && content.get_as<request>(0).what == request::stop)
    stop_number_ = sent_to_chief_;
}

void state_watch::look_at(const chief_state& state) {
  // Without the time of the actor, which has none until it runs.
  if (stop_number_ && !handled_stop_ && state.spent.counts(0).messages >= *stop_number_) {
    handled_stop_ = true;
    if (state.trains())
      stopped_at_ = {state.attempt, state.horizon.until()};
  }
  constexpr int64_t granted_meanwhile = 8;
  if (stopped_at_ && stopped_at_->first == state.attempt && !state.ending.stops()
      && state.horizon.until() > stopped_at_->second + granted_meanwhile && seen_.stop_unheard.empty())
    seen_.stop_unheard = "a stop was heard at the horizon " + std::to_string(stopped_at_->second) + ", which is at "
                         + std::to_string(state.horizon.until()) + " now";
}

void state_watch::look(const simulated_job& job) {
  if (std::exchange(started_, job.nodes_started()) != job.nodes_started()) {
    nodes_.clear();
    for (const std::string name :
         {"outfeed", "replica/0", "replica/1", "replica/2", "replica/3", "replica/4", "replica/5"})
      if (const auto node = job.node(name))
        nodes_.emplace_back(name, caf::actor_cast<caf::weak_actor_ptr>(node));
  }
  for (const auto& [name, node] : nodes_)
    look_at(name, node.lock());
  const auto boss = job.node("chief");
  if (const auto* chief = state_of<chief_actor, chief_state>(boss))
    look_at(*chief);
}

void state_watch::look_at(const std::string& name, const caf::strong_actor_ptr& node) {
  if (const auto* replica = state_of<replica_actor, replica_state>(node))
    look_at(name, node->id(), *replica);
  else if (const auto* outfeed = state_of<outfeed_actor, outfeed_state>(node)) {
    look_at(*outfeed);
    compare(*outfeed);
  }
}

void state_watch::look_at(const std::string& name, caf::actor_id id, const replica_state& state) {
  for (const auto& p : state.ports)
    if (!p.blocks.empty())
      blocks_.try_emplace({name, p.blocks.back().step}, p.blocks.back());
  for (const auto& p : state.ports)
    if (p.arrived > p.granted && seen_.over_credit.empty())
      seen_.over_credit = name + " has every batch below " + std::to_string(p.arrived) + " in attempt "
                          + std::to_string(state.attempt) + ", and asked for those below " + std::to_string(p.granted);
  if (state.calls.sent > state.calls.room && seen_.over_credit.empty())
    seen_.over_credit = name + " has sent " + std::to_string(state.calls.sent) + " entries for host calls, and "
                        + std::to_string(state.calls.room) + " had room";
  if (const auto first = state.options.engine ? engines_.try_emplace(state.options.engine, id).first : engines_.end();
      first != engines_.end() && first->second != id && seen_.engine_twice.empty())
    seen_.engine_twice = name + " has the engine of a replica that ended, in attempt " + std::to_string(state.attempt);
}

void state_watch::look_at(const outfeed_state& state) {
  for (const auto& g : state.groups)
    if (const auto* end = g.first_end(); end && end->kind == end_kind::failed && end->cause.category != errc::aborted
                                         && end->cause.category != errc::unavailable
                                         && end->cause.category != errc::cancelled)
      seen_.known_failures.try_emplace(state.attempt, to_text(end->cause));
}

void state_watch::compare(const outfeed_state& state) {
  if (state.groups.size() != 1 || !seen_.early_step.empty())
    return;
  for (const auto& [name, node] : nodes_)
    if (const auto* replica = state_of<replica_actor, replica_state>(node.lock());
        replica && replica->attempt == state.attempt && replica->step < state.step)
      seen_.early_step = "the outfeed is at state " + std::to_string(state.step) + " and " + name + " at "
                         + std::to_string(replica->step) + " in attempt " + std::to_string(state.attempt);
}

bool state_watch::send_late_block(const simulated_job& job, const std::string& replica) const {
  const auto node = job.node(replica);
  const auto* state = state_of<replica_actor, replica_state>(node);
  if (!state || !state->begun)
    return false;
  const auto late = blocks_.find({replica, state->ports.front().arrived});
  if (late == blocks_.end() || late->second.attempt >= state->attempt)
    return false;
  caf::anon_send(caf::actor_cast<block_sink_actor>(node), late->second);
  return true;
}

}  // namespace troupe::test::random_faults
