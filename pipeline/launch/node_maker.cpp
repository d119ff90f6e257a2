#include "pipeline/launch/node_maker.hpp"

#include "actors/steps/reducer.hpp"
#include "actors/steps/replica.hpp"
#include "pipeline/launch/node_options.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

using engine_maker = std::function<expected<std::unique_ptr<step_engine>>()>;

/// A replica that replaces one that has ended. It makes its engine on its own thread, since planning takes time.
replica_actor::behavior_type replica_with_own_engine(replica_actor::stateful_pointer<replica_state> self,
                                                     const engine_maker& make, replica_options options) {
  auto engine = make();
  if (!engine) {
    self->quit(to_reason(engine.error()));
    return replica_actor::behavior_type::make_empty_behavior();
  }
  options.engine = std::move(*engine);
  return replica(self, std::move(options));
}

}  // namespace

node_maker::node_maker(job_world& world, std::shared_ptr<prepared_job> job)
  : system_(world.system()), how_{world.threads(), world.messages()}, listener_(world.listener()),
    job_(std::move(job)) {}

void node_maker::use(std::shared_ptr<prepared_job> job) {
  job_ = std::move(job);
  started_once_.clear();
}

caf::strong_actor_ptr node_maker::start(const plan_node& n, const caf::strong_actor_ptr& driver,
                                        const std::map<int32_t, agent_actor>& agents) {
  if (!started_once_.insert(n.id).second)
    forget_memory_of(n);
  auto handle = spawn(n, driver, agents);
  listener_->started(n.name, handle);
  return handle;
}

/// Drops the engine of a replica that has ended: it may be inside a step, or have ended in the middle of one. The next
/// replica makes its own.
void node_maker::forget_memory_of(const plan_node& n) {
  if (n.what == role::replica && !planted(planted_fault::engine_handed_on))
    job_->programs[*n.program].engines[static_cast<size_t>(n.index)].reset();
}

template <class F, class... Ts>
caf::strong_actor_ptr node_maker::as_node(const plan_node& n, F f, Ts&&... xs) {
  std::error_code refusal;
  const spawn_options how{how_.own_thread && row_of(n.what).has_thread, how_.messages, processor_of(n), &refusal};
  auto handle = caf::actor_cast<caf::strong_actor_ptr>(spawn_actor(system_, how, f, std::forward<Ts>(xs)...));
  if (refusal)
    warnings_.push_back(n.name + " is not pinned to processor " + std::to_string(*how.processor) + ": "
                        + refusal.message());
  return handle;
}

/// The processor to which `pin_replicas` binds the node's thread, if any. Evaluations and predictions have one replica
/// each and are not pinned.
std::optional<int32_t> node_maker::processor_of(const plan_node& n) {
  const auto& config = job_->basis().config;
  if (!config.pin_replicas || !how_.own_thread || n.what != role::replica
      || job_->plan->programs[*n.program].mode != mode::train)
    return {};
  const auto& processors = job_->processors;
  if (processors.empty()) {
    warnings_.push_back("replicas are not pinned: the system does not say which processors the process may use");
    return {};
  }
  if (const auto others = config.intra_op_threads - 1; others > 0)
    warnings_.push_back("pin_replicas pins one thread of each replica; its "
                        + (others == 1 ? "other one runs" : std::to_string(others) + " others run")
                        + " on any processor (intra_op_threads = " + std::to_string(config.intra_op_threads) + ")");
  return processors[static_cast<size_t>(n.index) % processors.size()];
}

preparer_actor node_maker::start_preparer(preparer_options options) {
  const spawn_options how{how_.own_thread, how_.messages};
  options.present = job_;
  auto handle = spawn_actor(system_, how, preparer, std::move(options));
  listener_->started(preparer_state::name, caf::actor_cast<caf::strong_actor_ptr>(handle));
  return handle;
}

caf::strong_actor_ptr node_maker::spawn(const plan_node& n, const caf::strong_actor_ptr& driver,
                                        const std::map<int32_t, agent_actor>& agents) {
  const driven_nodes own{n.id, {job_, &job_->plan}, agents};
  switch (n.what) {
    case role::infeed: {
      const bool trains = job_->plan->datasets[*n.dataset].mode == mode::train;
      return as_node(n, infeed, infeed_options_of(job_, n),
                     trains ? caf::actor_cast<input_listener_actor>(driver) : input_listener_actor{});
    }
    case role::replica: {
      auto options = replica_options_of(*job_, n);
      if (options.engine)
        return as_node(n, replica, std::move(options));
      engine_maker make = [make = job_->programs[*n.program].make_engine, n] { return make(n); };
      return as_node(n, replica_with_own_engine, std::move(make), std::move(options));
    }
    case role::reducer: return as_node(n, reducer, reducer_options{n.id, n.name, reduction_of(n.group)});
    case role::outfeed:
      return as_node(n, outfeed, outfeed_options_of(*job_, n), caf::actor_cast<progress_sink_actor>(driver));
    case role::checkpoint_writer:
      return as_node(n, checkpoint_writer, checkpoint_writer_options_of(*job_, n),
                     caf::actor_cast<commit_sink_actor>(driver));
    case role::summary_writer:
    case role::eval_summary_writer:
      return as_node(n, summary_writer, summary_writer_options_of(*job_, n),
                     caf::actor_cast<log_listener_actor>(driver));
    case role::callbacks:
      return as_node(n, callbacks, callbacks_options_of(*job_, n), caf::actor_cast<hook_listener_actor>(driver));
    case role::evaluator: {
      auto options = evaluator_options_of(*job_, n);
      options.nodes = own;
      return as_node(n, evaluator, std::move(options), caf::actor_cast<evaluation_sink_actor>(driver));
    }
    case role::checkpoint_watcher: {
      auto options = checkpoint_watcher_options_of(*job_, n, how_.own_thread);
      const bool of_chief = n.driver != no_node;
      return as_node(n, checkpoint_watcher, std::move(options),
                     of_chief ? commit_listener_actor{} : caf::actor_cast<commit_listener_actor>(driver),
                     of_chief ? caf::actor_cast<verdict_listener_actor>(driver) : verdict_listener_actor{});
    }
    case role::predictor: {
      auto options = predictor_options_of(*job_, n);
      options.nodes = own;
      return as_node(n, predictor, std::move(options));
    }
    case role::chief: {
      auto options = chief_options_of(*job_, n);
      options.nodes = own;
      options.use(attempt_plan_of(job_));
      return as_node(n, chief, std::move(options));
    }
  }
  return {};
}

std::shared_ptr<gradient_reduction> node_maker::reduction_of(group_id group) const {
  for (size_t p = 0; p < job_->programs.size(); ++p)
    if (job_->plan->programs[p].group == group && job_->plan->programs[p].mode == mode::train)
      return job_->programs[p].reduction;
  return {};
}

}  // namespace troupe
