// An agent whose nodes a test makes: the neighbour of a driver under test.
#pragma once

#include "messages/interfaces.hpp"
#include "support/simulation.hpp"

#include <functional>

namespace troupe::test {

struct fake_agent {
  std::function<caf::strong_actor_ptr(node_id)> make;
  std::map<node_id, caf::strong_actor_ptr> newest = {};
  std::vector<node_id> started = {};
  std::vector<start_nodes> asked = {};
  std::vector<prepare_plan> plans_wanted = {};
  bool answers = true;     ///< False: the agent starts the nodes and sends no answer.
  bool ends_nodes = true;  ///< False: the nodes are busy and do not hear that they are ended.
  int reads_cancelled = 0, cancelled = 0;

  int attempts_begun() const {
    int32_t last = 1;
    for (const auto& x : asked)
      last = std::max(last, x.attempt);
    return last - 1;
  }
};

/// `of` must outlive the actor.
inline agent_actor spawn_agent(simulation& world, fake_agent& of) {
  return world.spawn([&of](agent_actor::pointer self) {
    return agent_actor::behavior_type{
        [&of, self](const start_nodes& x) {
          of.asked.push_back(x);
          troupe::started answer{x.attempt, 0, {}};
          for (const auto& [id] : x.nodes) {
            of.started.push_back(id);
            of.newest[id] = of.make(id);
            answer.nodes.push_back({id, of.newest[id]});
          }
          if (of.answers)
            self->send(caf::actor_cast<starting_sink_actor>(self->current_sender()), std::move(answer));
        },
        [&of](const end_nodes& x) {
          for (const auto& [id] : x.nodes)
            if (const auto node = of.newest.extract(id); node && of.ends_nodes)
              caf::anon_send_exit(node.mapped(), caf::exit_reason::user_shutdown);
        },
        [&of](const prepare_plan& x) { of.plans_wanted.push_back(x); },
        [](const prepared&) {},
        [&of](const cancel& x) { ++(x.what == cancel::reads ? of.reads_cancelled : of.cancelled); },
    };
  });
}

}  // namespace troupe::test
