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
replica_actor::behavior_type replica_with_own_engine(replica_actor::stateful_pointer<replica_state> self, const engine_maker& make,
                                                     replica_options options) {
  auto engine = make();
  if (!engine) {
    self->quit(to_reason(engine.error()));
    return replica_actor::behavior_type::make_empty_behavior();
  }
  options.engine = std::move(*engine);
  return replica(self, std::move(options));
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

  const checked_plan& plan() const override { return job_->plan; }

  caf::strong_actor_ptr start(node_id id, const caf::strong_actor_ptr& driver) override {
    const auto& node = job_->plan.at(id);
    if (!started_once_.insert(id).second)
      forget_memory_of(node);
    auto handle = spawn(node, driver);
    handles_[id] = handle;
    listener_->started(node.name, handle);
    return handle;
  }

  void end(node_id id) override {
    if (const auto node = handles_.extract(id))
      caf::anon_send_exit(node.mapped(), caf::exit_reason::user_shutdown);
  }

  void cancel_reads() override { job_->switches.at(driver_).stop->request_stop(); }
  void cancel_steps() override { job_->switches.at(driver_).all(); }
  void begin_attempt() override { job_->switches.at(driver_).renew(); }

  void cancel() override {
    job_->switches.at(driver_).all();
    for (const auto* n : job_->plan.all(role::evaluator, driver_))
      job_->switches.at(n->id).all();
  }

 private:
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
        return as_node(n, infeed, infeed_options_of(job_, n), trains ? caf::actor_cast<input_listener_actor>(driver) : input_listener_actor{});
      }
      case role::replica: {
        auto options = replica_options_of(*job_, n);
        if (options.engine)
          return as_node(n, replica, std::move(options));
        engine_maker make = [make = job_->programs[*n.program].make_engine, n] { return make(n); };
        return as_node(n, replica_with_own_engine, std::move(make), std::move(options));
      }
      case role::reducer: return as_node(n, reducer, reducer_options{n.id, reduction_of(n.group)});
      case role::outfeed: return as_node(n, outfeed, outfeed_options_of(*job_, n), caf::actor_cast<progress_sink_actor>(driver));
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

  caf::actor_system& system_;  // Not the world: a driver that is left behind outlives it.
  spawn_options how_;
  std::shared_ptr<job_listener> listener_;
  std::shared_ptr<prepared_job> job_;
  node_id driver_;
  std::set<node_id> started_once_;
  std::map<node_id, caf::strong_actor_ptr> handles_;  // The newest handle of each node that was started.
};

}  // namespace

std::shared_ptr<crew> make_crew(job_world& world, std::shared_ptr<prepared_job> job, node_id driver) {
  return std::make_shared<job_crew>(world.system(), spawn_options{world.threads(), world.messages()}, world.listener(), std::move(job), driver);
}

}  // namespace troupe
