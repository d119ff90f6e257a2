#include "pipeline/launch/job_crew.hpp"

#include "actors/steps/reducer.hpp"
#include "actors/steps/replica.hpp"
#include "pipeline/launch/node_options.hpp"
#include "pipeline/launch/spawn.hpp"
#include "words/planted.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <set>

namespace troupe {

namespace {

using engine_maker = std::function<expected<std::unique_ptr<step_engine>>()>;

/// A replica in the place of one that has ended: it makes an engine of its own, on its own thread, as planning takes time.
replica_actor::behavior_type replica_with_own_engine(replica_actor::stateful_pointer<replica_state> self, const engine_maker& make, replica_options options,
                                                     replica_peers peers) {
  auto engine = make();
  if (!engine) {
    self->quit(to_reason(engine.error()));
    return replica_actor::behavior_type::make_empty_behavior();
  }
  options.engine = std::move(*engine);
  return replica(self, std::move(options), std::move(peers));
}

class job_crew final : public crew {
 public:
  job_crew(caf::actor_system& system, spawn_options how, std::shared_ptr<job_listener> listener, std::shared_ptr<prepared_job> job, node_id driver)
    : system_(system), how_(how), listener_(std::move(listener)), job_(std::move(job)), driver_(driver) {}

  std::vector<member> members() const override {
    std::vector<member> all;
    for (const auto what : starting_order())
      for (const auto* n : job_->plan.all(what, driver_))
        all.push_back({n->id, n->what, n->group, n->name});
    return all;
  }

  caf::strong_actor_ptr start(node_id id, const caf::strong_actor_ptr& driver) override {
    const auto& node = job_->plan.at(id);
    sender_ = caf::actor_cast<caf::weak_actor_ptr>(driver);
    if (!started_once_.insert(id).second)
      forget_memory_of(node);
    auto handle = spawn(node, driver);
    handles_[id] = handle;
    listener_->started(node.name, handle);
    return handle;
  }

  void connect(node_id id) override {
    const auto& node = job_->plan.at(id);
    for (const auto* e : job_->plan.edges_from(id))
      connect(*e);
    for (const auto* e : job_->plan.edges_to(id))
      connect(*e);
    for (const auto* e : job_->plan.edges_to(id, edge_kind::gradient))
      if (const auto replica = handles_.find(e->from); replica != handles_.end())
        tell(replica->second, connect_reducer{caf::actor_cast<gradient_sink_actor>(handles_.at(id))});
    if (node.what == role::summary_writer)  // The other senders of parts are started with the writer's handle.
      for (const auto* e : job_->plan.edges_from(id, edge_kind::part))
        connect_parts(*e);
    for (const auto* e : job_->plan.edges_to(id, edge_kind::part))
      if (e->from != driver_)
        connect_parts(*e);
  }

  void remove(const std::map<group_id, int64_t>& leaving, int32_t attempt) override {
    if (planted(planted_fault::zeros_after_fall)) {
      for (const auto& one : leaving)
        tell_others({one}, {one.first}, attempt);
      return;
    }
    for (const auto& [group, step] : leaving)
      gone_.insert(group);
    tell_others(leaving, gone_, attempt);
  }

  void end(node_id id) override {
    if (const auto node = handles_.extract(id))
      caf::anon_send_exit(node.mapped(), caf::exit_reason::user_shutdown);
  }

  void cancel_reads() override { job_->switches.at(driver_).stop->request_stop(); }
  void cancel_steps() override { job_->switches.at(driver_).all(); }
  void begin_attempt() override {
    job_->switches.at(driver_).renew();
    gone_.clear();
  }

  void cancel() override {
    job_->switches.at(driver_).all();
    for (const auto* n : job_->plan.all(role::evaluator, driver_))
      job_->switches.at(n->id).all();
  }

 private:
  /// Of each edge with one end in a group of `leaving`, the other end, unless that is in a group of `gone`.
  void tell_others(const std::map<group_id, int64_t>& leaving, const std::set<group_id>& gone, int32_t attempt) const {
    const auto group_of = [&](node_id id) { return job_->plan.at(id).what == role::replica ? std::optional{job_->plan.at(id).group} : std::nullopt; };
    for (const auto& e : job_->plan->edges) {
      if (e.kind != edge_kind::data || job_->plan.at(e.to).driver != driver_)
        continue;
      const auto from = group_of(e.from), to = group_of(e.to);
      for (const auto& [one, end, other] : {std::tuple{from, to, e.to}, std::tuple{to, from, e.from}})
        if (const auto left = one ? leaving.find(*one) : leaving.end(); left != leaving.end() && one != end && !(end && gone.contains(*end)))
          if (const auto node = handles_.find(other); node != handles_.end())
            tell(node->second, leave{attempt, e.id, left->second});
    }
  }

  /// The other end of the node's only edge of a kind, if it was started; null also where it has no such edge.
  template <class Handle>
  Handle peer_of(const plan_node& n, edge_kind what) const {
    const auto& edges = job_->plan.edges_from(n.id, what);
    const auto there = edges.empty() ? handles_.end() : handles_.find(edges.front()->to);
    return there == handles_.end() ? Handle{} : caf::actor_cast<Handle>(there->second);
  }

  /// A node that has ended may have left it half-done, or be inside it still: the next one makes its own.
  void forget_memory_of(const plan_node& n) {
    if (n.what == role::replica && !planted(planted_fault::engine_handed_on))
      job_->programs[*n.program].engines[static_cast<size_t>(n.index)].reset();
  }

  template <class F, class... Ts>
  caf::strong_actor_ptr as_node(const plan_node& n, F f, Ts&&... xs) {
    const spawn_options how{how_.own_thread && row_of(n.what).has_thread, how_.messages};
    return caf::actor_cast<caf::strong_actor_ptr>(spawn_actor(system_, how, f, std::forward<Ts>(xs)...));
  }

  caf::strong_actor_ptr spawn(const plan_node& n, const caf::strong_actor_ptr& driver) {
    switch (n.what) {
      case role::infeed: {
        const bool trains = job_->plan->datasets[*n.dataset].mode == mode::train;
        return as_node(n, infeed, infeed_options_of(job_, n), peer_of<part_sink_actor>(n, edge_kind::part),
                       trains ? caf::actor_cast<input_listener_actor>(driver) : input_listener_actor{});
      }
      case role::replica: {
        auto options = replica_options_of(*job_, n);
        replica_peers peers{peer_of<report_sink_actor>(n, edge_kind::report), peer_of<part_sink_actor>(n, edge_kind::part),
                            peer_of<gradient_sink_actor>(n, edge_kind::gradient)};
        if (options.engine)
          return as_node(n, replica, std::move(options), std::move(peers));
        engine_maker make = [make = job_->programs[*n.program].make_engine, n] { return make(n); };
        return as_node(n, replica_with_own_engine, std::move(make), std::move(options), std::move(peers));
      }
      case role::reducer: return as_node(n, reducer, reducer_options{n.id, reduction_of(n.group)});
      case role::outfeed:
        return as_node(n, outfeed, outfeed_options_of(*job_, n), caf::actor_cast<progress_sink_actor>(driver),
                       peer_of<summary_writer_actor>(n, edge_kind::record));
      case role::checkpoint_writer: return as_node(n, checkpoint_writer, checkpoint_writer_options_of(*job_, n), caf::actor_cast<commit_sink_actor>(driver));
      case role::summary_writer:
      case role::eval_summary_writer: return as_node(n, summary_writer, summary_writer_options_of(*job_, n), caf::actor_cast<log_listener_actor>(driver));
      case role::callbacks: return as_node(n, callbacks, callbacks_options_of(*job_, n), caf::actor_cast<hook_listener_actor>(driver));
      case role::evaluator: {
        auto options = evaluator_options_of(*job_, n);
        options.nodes = crew_of(n.id);
        return as_node(n, evaluator, std::move(options), caf::actor_cast<evaluation_sink_actor>(driver));
      }
      case role::predictor: {
        auto options = predictor_options_of(*job_, n);
        options.nodes = crew_of(n.id);
        return as_node(n, predictor, std::move(options));
      }
      case role::chief: {
        auto options = chief_options_of(*job_, n);
        options.nodes = crew_of(n.id);
        return as_node(n, chief, std::move(options));
      }
    }
    return {};
  }

  std::shared_ptr<crew> crew_of(node_id driver) const { return std::make_shared<job_crew>(system_, how_, listener_, job_, driver); }

  std::shared_ptr<gradient_reduction> reduction_of(group_id group) const {
    for (size_t p = 0; p < job_->programs.size(); ++p)
      if (job_->plan->programs[p].group == group && job_->plan->programs[p].mode == mode::train)
        return job_->programs[p].reduction;
    return {};
  }

  void connect(const plan_edge& e) const {
    const auto from = handles_.find(e.from), to = handles_.find(e.to);
    if (from == handles_.end() || to == handles_.end())
      return;
    tell(from->second, connect_reader{e.id, caf::actor_cast<block_sink_actor>(to->second)});
    tell(to->second, connect_source{e.id, caf::actor_cast<credit_source_actor>(from->second)});
  }

  void connect_parts(const plan_edge& e) const {
    const auto from = handles_.find(e.from), to = handles_.find(e.to);
    if (from != handles_.end() && to != handles_.end())
      tell(from->second, troupe::connect_parts{caf::actor_cast<checkpoint_writer_actor>(to->second)});
  }

  /// Sends as the driver: messages of one sender arrive in order, so nodes know their neighbours when they begin.
  template <class M>
  void tell(const caf::strong_actor_ptr& node, M message) const {
    caf::send_as(caf::actor_cast<caf::actor>(sender_), caf::actor_cast<caf::typed_actor<caf::reacts_to<M>>>(node), std::move(message));
  }

  caf::actor_system& system_;  // Not the world: a driver that is left behind outlives it.
  spawn_options how_;
  std::shared_ptr<job_listener> listener_;
  std::shared_ptr<prepared_job> job_;
  node_id driver_;
  caf::weak_actor_ptr sender_;  // The driver, which owns this crew.
  std::set<node_id> started_once_;
  std::set<group_id> gone_;  // Those that have left in this attempt.
  std::map<node_id, caf::strong_actor_ptr> handles_;  // The newest handle of each node that was started.
};

}  // namespace

std::shared_ptr<crew> make_crew(job_world& world, std::shared_ptr<prepared_job> job, node_id driver) {
  return std::make_shared<job_crew>(world.system(), spawn_options{world.threads(), world.messages()}, world.listener(), std::move(job), driver);
}

}  // namespace troupe
