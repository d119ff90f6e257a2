#include "actors/agents.hpp"

#include "words/planted.hpp"

#include <caf/local_actor.hpp>
#include <caf/send.hpp>

namespace troupe {

std::vector<member> members_of(const checked_plan& plan, node_id driver) {
  std::vector<member> all;
  for (const auto what : starting_order())
    for (const auto* n : plan.all(what, driver))
      all.push_back({n->id, n->what, n->group, n->name});
  return all;
}

std::string agent_name(int32_t place) { return place == 0 ? "agent" : "agent/" + std::to_string(place); }

agents::agents(caf::local_actor& driver, const driven_nodes& of)
  : driver_(&driver), number_(of.driver), by_place_(of.agents) {
  for (const auto& [place, agent] : by_place_)
    driver_->monitor(agent);
}

template <class M>
void agents::tell(const agent_actor& to, M message) const {
  caf::send_as(caf::actor_cast<caf::actor>(driver_), to, std::move(message));
}

void agents::start(int32_t attempt, const checked_plan& plan, const std::vector<node_id>& nodes) {
  attempt_ = attempt;
  newcomers_.clear();
  for (const auto& [place, agent] : by_place_) {
    start_nodes news{attempt, number_, {}};
    for (const auto id : nodes)
      if (plan.at(id).place == place)
        news.nodes.push_back({id});
    awaited_.insert(place);
    tell(agent, std::move(news));
  }
}

bool agents::on(const started& x, roster& nodes) {
  if (x.attempt != attempt_ || awaited_.erase(x.place) == 0)
    return false;
  for (const auto& n : x.nodes) {
    if (!planted(planted_fault::monitor_forgotten) || &n != &x.nodes.front())
      driver_->monitor(caf::actor_cast<caf::actor>(n.handle));
    nodes.started(n.id, n.handle);
    newcomers_.insert(n.id);
  }
  return true;
}

void agents::ask_to_prepare(int32_t attempt, const newest& books) {
  attempt_ = attempt;
  for (const auto& [place, agent] : by_place_) {
    preparing_.insert(place);
    tell(agent, prepare_plan{attempt, books});
  }
}

bool agents::on(const prepared& x) { return x.attempt == attempt_ && preparing_.erase(x.place) > 0; }

std::string agents::names_of_awaited() const {
  std::string all;
  for (const auto place : awaited_.empty() ? preparing_ : awaited_)
    all += (all.empty() ? "" : ", ") + agent_name(place);
  return all;
}

void agents::end(const std::vector<node_id>& nodes) const {
  end_nodes news;
  for (const auto id : nodes)
    news.nodes.push_back({id});
  for (const auto& [place, agent] : by_place_)
    tell(agent, news);
}

void agents::interrupt(enum cancel::kind what) const {
  for (const auto& [place, agent] : by_place_)
    tell(agent, cancel{number_, what});
}

std::string agents::name_of(const caf::actor_addr& address) const {
  for (const auto& [place, agent] : by_place_)
    if (agent.address() == address)
      return agent_name(place);
  return {};
}

}  // namespace troupe
