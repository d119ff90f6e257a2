#include "pipeline/launch/job_crew.hpp"

#include "actors/callbacks.hpp"
#include "actors/evaluator.hpp"
#include "actors/predictor.hpp"
#include "actors/steps/infeed.hpp"
#include "actors/steps/outfeed.hpp"
#include "actors/steps/reducer.hpp"
#include "actors/writers/checkpoint_writer.hpp"
#include "actors/writers/summary_writer.hpp"
#include "compute/kernels/numerics.hpp"
#include "input/streams/open_input.hpp"
#include "pipeline/launch/spawn.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <climits>

namespace troupe {

namespace {

std::string index_of(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

class job_crew final : public crew {
  template <class F, class... Ts>
  auto spawn(const std::string& name, F f, Ts&&... xs) {
    auto node = spawn_actor(system_, threads_, f, std::forward<Ts>(xs)...);
    if (started_)
      started_(name, caf::actor_cast<caf::strong_actor_ptr>(node));
    return node;
  }

 public:
  job_crew(caf::actor_system& system, std::shared_ptr<prepared_job> job, prepared_crew& nodes, bool threads, node_listener started)
    : system_(system), job_(std::move(job)), nodes_(nodes), threads_(threads), started_(std::move(started)) {}

  int32_t infeeds() const override { return nodes_.hosts; }
  int32_t replicas() const override { return static_cast<int32_t>(nodes_.engines.size()); }

  std::vector<std::pair<int32_t, int32_t>> edges_of(int32_t index) const override {
    std::vector<std::pair<int32_t, int32_t>> edges;
    for (const auto& e : nodes_.edges)
      if (index_of(e.from) == std::to_string(index))
        edges.emplace_back(e.id, std::stoi(index_of(e.to)));
    return edges;
  }

  infeed_actor start_infeed(int32_t index, part_sink_actor parts, input_listener_actor listener) override {
    infeed_options options;
    options.name = prefix() + "infeed/" + std::to_string(index);
    options.index = index;
    auto iterate = nodes_.iterate;
    iterate.host = index;
    options.open = [input = nodes_.input, iterate] { return open_input(input, iterate); };
    const auto edges = edges_of(index);
    for (size_t i = 0; i < edges.size(); ++i)
      options.edges.push_back({edges[i].first, static_cast<int32_t>(i), static_cast<int32_t>(edges.size())});
    options.stop = nodes_.stop;
    const auto name = options.name;
    return spawn(name, infeed, std::move(options), std::move(parts), std::move(listener));
  }

  replica_actor start_replica(int32_t index, const replica_peers& peers) override {
    replica_options options;
    options.name = prefix() + "replica/" + std::to_string(index);
    options.index = index;
    options.replicas = replicas();
    options.mode = nodes_.what;
    options.debug_numerics = job_->description.config.debug_numerics;
    for (const auto& e : nodes_.edges)
      if (index_of(e.to) == std::to_string(index)) {
        options.in_edges.push_back(e.id);
        options.window_blocks = e.credit_blocks;
      }
    options.engine = nodes_.engines[static_cast<size_t>(index)];
    const auto name = options.name;
    return spawn(name, replica, std::move(options), peers);
  }

  reducer_actor start_reducer() override {
    if (replicas() == 1)
      return {};
    return spawn("reducer", reducer, reducer_options{nodes_.reduction});
  }

  outfeed_actor start_outfeed(progress_sink_actor sink, summary_writer_actor writer) override {
    outfeed_options options{prefix() + "outfeed", replicas(), job_->description.config.log_step_count_steps.value_or(0)};
    if (nodes_.what == mode::train)
      options.outputs.assign(nodes_.engines.front()->outputs().begin(), nodes_.engines.front()->outputs().end());
    if (writer)
      options.summaries = nodes_.engines.front()->summaries();
    const auto name = options.name;
    return spawn(name, outfeed, std::move(options), std::move(sink), std::move(writer));
  }

  summary_writer_actor start_summary_writer(bool of_evaluations, chief_actor chief) override {
    const auto& d = job_->description;
    const std::string folder = of_evaluations ? (d.eval_name.empty() ? "eval" : "eval_" + d.eval_name) : "";
    summary_writer_options options;
    options.name = of_evaluations ? "summary_writer/eval" : "summary_writer";
    options.flushes_records = of_evaluations;
    options.files = d.files;
    options.directory = folder.empty() ? *d.config.model_dir : join_path(*d.config.model_dir, folder);
    options.claim = job_->claim;
    options.host = job_->host;
    options.wall_offset = job_->wall_offset;
    const auto name = options.name;
    return spawn(name, summary_writer, std::move(options), std::move(chief));
  }

  checkpoint_writer_actor start_checkpoint_writer(chief_actor chief) override {
    const auto& d = job_->description;
    checkpoint_writer_options options;
    options.files = d.files;
    options.directory = d.config.model_dir.value_or("");
    options.store.keep_checkpoint_max = static_cast<int>(std::min<int64_t>(d.config.keep_checkpoint_max.value_or(0), INT_MAX));
    options.claim = job_->claim;
    options.store.keep_checkpoint_every_n_hours = d.config.keep_checkpoint_every_n_hours;
    options.wall_offset = job_->wall_offset;
    options.parts = job_->shape.snapshot_parts;
    options.parameters = nodes_.parameters;
    options.lease_commits = d.eval_input.has_value();
    options.seed = d.config.seed.value_or(0);
    options.properties = {{"model", d.source->name}, {"cpu_level", TROUPE_CPU_LEVEL}, {"numerics_version", std::to_string(numerics_version)},
                          {"gradient_shards", std::to_string(d.config.gradient_shards.value_or(d.config.replicas))},
                          {"replicas", std::to_string(replicas())}, {"seed", std::to_string(options.seed)}};
    return spawn("checkpoint_writer", checkpoint_writer, std::move(options), std::move(chief));
  }

  evaluator_actor start_evaluator(chief_actor chief) override {
    return spawn_evaluator(system_, job_, threads_, caf::actor_cast<caf::strong_actor_ptr>(chief), started_);
  }

  callbacks_actor start_callbacks(chief_actor chief) override {
    const auto& d = job_->description;
    if (d.hooks.empty() && !d.log)
      return {};
    callbacks_options options;
    options.hooks = d.hooks;
    options.log = d.log;
    options.turns = d.turns;
    for (const auto& o : nodes_.engines.front()->outputs())
      options.outputs.push_back(o.name);
    return spawn("callbacks", callbacks, std::move(options), std::move(chief));
  }

  void cancel_reads() override { nodes_.stop.request_stop(); }

  void cancel() override {
    nodes_.cancel->store(true);
    nodes_.stop.request_stop();
    if (job_->evaluation) {
      job_->evaluation->cancel->store(true);
      job_->evaluation->stop.request_stop();
    }
  }

 private:
  std::string prefix() const { return nodes_.what == mode::train ? "" : nodes_.what == mode::evaluate ? "evaluator/" : "predictor/"; }

  caf::actor_system& system_;
  std::shared_ptr<prepared_job> job_;
  prepared_crew& nodes_;
  bool threads_;
  node_listener started_;
};

}  // namespace

std::shared_ptr<crew> make_crew(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads, node_listener started) {
  auto& nodes = *job->training;
  return std::make_shared<job_crew>(system, std::move(job), nodes, threads, std::move(started));
}

chief_options make_chief_options(const prepared_job& job, std::shared_ptr<crew> nodes, std::shared_ptr<job_board> board) {
  const auto& d = job.description;
  const auto trigger = resolve_checkpoint_trigger(d.config);
  chief_options options;
  options.nodes = std::move(nodes);
  options.board = std::move(board);
  options.max_steps = d.max_steps;
  options.steps = d.steps;
  options.checkpoints = saves(d);
  if (trigger && trigger->steps.value_or(0) > 0)
    options.save_steps = trigger->steps;
  if (trigger && trigger->secs.value_or(0) > 0)
    options.save_secs = trigger->secs;
  options.evaluates = job.evaluation.has_value();
  options.event_files = d.config.model_dir.has_value();
  options.summary_steps = keeps_summaries(d) ? d.config.save_summary_steps : 0;
  options.throttle_secs = d.throttle_secs;
  options.when = d.when;
  options.evaluator_may_fail = d.evaluator_may_fail;
  options.deadlines = d.deadlines;
  return options;
}

evaluator_actor spawn_evaluator(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads, caf::strong_actor_ptr asker,
                                node_listener started) {
  const auto& d = job->description;
  auto& nodes = *job->evaluation;
  evaluator_options options;
  options.files = d.files;
  options.directory = d.config.model_dir.value_or("");
  options.parameters = nodes.parameters;
  const auto outputs = nodes.engines.front()->outputs();
  options.outputs.assign(outputs.begin(), outputs.end());
  options.steps = d.eval_steps;
  options.silence_max = d.deadlines.silence;
  options.board = job->board;
  options.seed = d.config.seed.value_or(0);
  options.nodes = std::make_shared<job_crew>(system, job, nodes, threads, started);
  auto node = spawn_actor(system, threads, evaluator, std::move(options), std::move(asker));
  if (started)
    started("evaluator", caf::actor_cast<caf::strong_actor_ptr>(node));
  return node;
}

summary_writer_actor spawn_eval_summary_writer(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads, chief_actor told,
                                               node_listener started) {
  auto& nodes = *job->evaluation;
  return job_crew{system, std::move(job), nodes, threads, std::move(started)}.start_summary_writer(true, std::move(told));
}

predictor_actor spawn_predictor(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads,
                                std::shared_ptr<prediction_board> board, node_listener started) {
  const auto& d = job->description;
  auto& nodes = *job->prediction;
  predictor_options options;
  options.board = board;
  options.files = d.files;
  options.directory = d.config.model_dir.value_or("");
  options.step = d.predict_step;
  options.silence_max = d.deadlines.silence;
  options.parameters = nodes.parameters;
  options.seed = d.config.seed.value_or(0);
  options.nodes = std::make_shared<job_crew>(system, job, nodes, threads, started);
  auto node = spawn_actor(system, threads, predictor, std::move(options));
  // One that dies, without a thread for it or by a defect, does not leave the consumer waiting.
  node->attach_functor([board = std::move(board)](const caf::error& reason) {
    board->ended(error{category_of(reason), "the predictor ended: " + describe(reason)});
  });
  if (started)
    started("predictor", caf::actor_cast<caf::strong_actor_ptr>(node));
  return node;
}

}  // namespace troupe
