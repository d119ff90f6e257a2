#include "pipeline/launch/agent.hpp"

#include "pipeline/launch/node_maker.hpp"
#include "words/planted.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

struct agent_options {
  int32_t place = 0;
  std::shared_ptr<prepared_job> job;
  std::shared_ptr<node_maker> maker;
};

/// When a driver ends, its agent ends the driver's nodes. When an agent ends, all of its nodes end.
struct agent_state {
  agent_state() = default;
  agent_state(const agent_state&) = delete;
  ~agent_state() {
    for (const auto& [id, node] : nodes)
      caf::anon_send_exit(node.handle, caf::exit_reason::user_shutdown);
    if (preparer)
      caf::anon_send_exit(preparer, caf::exit_reason::user_shutdown);
  }

  static inline const char* name = "agent";
  struct started_node {
    caf::actor_addr driver;
    caf::strong_actor_ptr handle;
  };
  agent_actor::stateful_pointer<agent_state> self = nullptr;
  agent_options options;
  std::map<node_id, started_node> nodes;  ///< The newest actor of each node that was started and not ended.
  std::map<caf::actor_addr, node_id> drivers;
  preparer_actor preparer;  ///< Null until another plan is requested.
  std::shared_ptr<std::shared_ptr<prepared_job>> next = std::make_shared<std::shared_ptr<prepared_job>>();
  /// Absent unless a plan is being prepared: the attempt that it is for, and the driver that asked.
  std::optional<std::pair<int32_t, caf::strong_actor_ptr>> asked = {};

  void on_start(const start_nodes& x);
  void end(node_id id);
  void on_prepare(const prepare_plan& x);
  void on_prepared(prepared x);
  void on_down(const caf::down_msg& x);
  void on_driver_gone(const caf::actor_addr& who);
  /// Interrupts the nodes of `driver`. With kind `cancel::all`, also the nodes that these drive.
  void interrupt(node_id driver, uint8_t kind);
};

void agent_state::on_start(const start_nodes& x) {
  const auto driver = self->current_sender();
  if (!driver || !options.job->switches.contains(x.driver))
    return;  // The sender is outside the job, or is a driver of the previous plan, which has ended.
  const auto address = driver->get()->address();
  if (drivers.emplace(address, x.driver).second)
    self->monitor(caf::actor_cast<caf::actor>(driver));
  options.job->switches.at(x.driver).renew();
  started answer{x.attempt, options.place, {}};
  for (const auto& [id] : x.nodes) {
    end(id);
    auto handle = options.maker->start(options.job->plan.at(id), driver, {{options.place, agent_actor{self}}});
    nodes[id] = {address, handle};
    answer.nodes.push_back({id, std::move(handle)});
  }
  answer.warnings = options.maker->take_warnings();
  self->send(caf::actor_cast<starting_sink_actor>(driver), std::move(answer));
}

void agent_state::end(node_id id) {
  if (const auto node = nodes.extract(id))
    caf::anon_send_exit(node.mapped().handle, caf::exit_reason::user_shutdown);
}

void agent_state::on_prepare(const prepare_plan& x) {
  if (!preparer) {
    preparer = options.maker->start_preparer({.place = options.place, .next = next, .asker = self});
    self->monitor(preparer);
  }
  asked.emplace(x.attempt, self->current_sender());
  self->send(preparer, x);
}

/// Running nodes keep the plan that they were started with.
void agent_state::on_prepared(prepared x) {
  if (!asked || asked->first != x.attempt)
    return;
  if (x.plan && !planted(planted_fault::plan_of_before)) {
    options.job = std::exchange(*next, nullptr);
    options.maker->use(options.job);
  }
  self->send(caf::actor_cast<preparation_sink_actor>(std::exchange(asked, std::nullopt)->second), std::move(x));
}

void agent_state::on_down(const caf::down_msg& x) {
  if (!preparer || x.source != preparer.address())
    return on_driver_gone(x.source);
  preparer = nullptr;
  if (asked)
    on_prepared({asked->first, options.place,
                 error{category_of(x.reason), "the preparer ended: " + describe(x.reason), {}, preparer_state::name}});
}

void agent_state::on_driver_gone(const caf::actor_addr& who) {
  const auto driver = drivers.extract(who);
  if (!driver)
    return;
  if (std::none_of(drivers.begin(), drivers.end(), [&](const auto& other) { return other.second == driver.mapped(); }))
    interrupt(driver.mapped(), cancel::work);  // Otherwise a new driver has replaced it.
  std::vector<node_id> left;
  for (const auto& [id, node] : nodes)
    if (node.driver == who)
      left.push_back(id);
  for (const auto id : left)
    end(id);
}

void agent_state::interrupt(node_id driver, uint8_t kind) {
  const auto& job = *options.job;
  const auto found = job.switches.find(driver);
  if (found == job.switches.end())
    return;  // It is a driver of the previous plan.
  if (kind == cancel::reads)
    found->second.stop->request_stop();
  else
    found->second.all();
  if (kind == cancel::all)
    for (const auto& n : job.plan->nodes)
      if (n.driver == driver && job.switches.contains(n.id))
        interrupt(n.id, kind);
}

agent_actor::behavior_type agent(agent_actor::stateful_pointer<agent_state> self, agent_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_down(x); });
  return {
      [&state](const start_nodes& x) { state.on_start(x); },
      [&state](const end_nodes& x) {
        for (const auto& [id] : x.nodes)
          state.end(id);
      },
      [&state](const cancel& x) { state.interrupt(x.driver, x.what); },
      [&state](const prepare_plan& x) { state.on_prepare(x); },
      [&state](const prepared& x) { state.on_prepared(x); },
  };
}

}  // namespace

launched_nodes::launched_nodes(job_world& world, std::shared_ptr<prepared_job> job)
  : world_(world), job_(std::move(job)) {
  for (const auto& n : job_->plan->nodes)
    if (!agents_.contains(n.place)) {
      agent_options options{n.place, job_, std::make_shared<node_maker>(world_, job_)};
      const auto handle = spawn_actor(world_.system(), {.messages = world_.messages()}, agent, std::move(options));
      world_.listener()->started(agent_name(n.place), caf::actor_cast<caf::strong_actor_ptr>(handle));
      agents_.emplace(n.place, handle);
    }
}

driven_nodes launched_nodes::driven() const { return {no_node, {job_, &job_->plan}, agents_}; }

caf::strong_actor_ptr launched_nodes::start_head(role what) {
  auto head = node_maker{world_, job_}.start(*job_->plan.find(what, no_node), {}, agents_);
  end_with(head);
  return head;
}

void launched_nodes::end_with(const caf::strong_actor_ptr& head) const {
  head->get()->attach_functor([agents = agents_](const caf::error&) {
    for (const auto& [place, agent] : agents)
      caf::anon_send_exit(agent, caf::exit_reason::user_shutdown);
  });
}

void launched_nodes::interrupt() const {
  for (const auto& [place, agent] : agents_)
    caf::anon_send(agent, cancel{no_node, cancel::all});
}

}  // namespace troupe
