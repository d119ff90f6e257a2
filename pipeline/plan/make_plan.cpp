#include "pipeline/plan/make_plan.hpp"

namespace troupe {

namespace {

void add_training(job_plan& p, plan_maker& add, const plan_options& o, node_id chief) {
  p.groups.push_back({});
  p.shown = {p.groups.back().id};
  const auto data = add.dataset(*o.dataset, mode::train);
  const auto program = add.program(o.program, mode::train);
  std::vector<node_id> infeeds;
  for (int32_t h = 0; h < o.hosts; ++h) {
    auto& feed = add.node(role::infeed, "infeed/" + std::to_string(h), chief, h);
    feed.dataset = data;
    feed.out_ports = {std::string{data_port}};
    infeeds.push_back(feed.id);
  }
  const int32_t readers = o.replicas / o.hosts;
  for (int32_t r = 0; r < o.replicas; ++r) {
    auto& worker = add.node(role::replica, "replica/" + std::to_string(r), chief, r);
    worker.program = program;
    worker.in_ports = {std::string{data_port}};
    add.data_edge(infeeds[static_cast<size_t>(r / readers)], worker.id);
  }
  if (o.replicas > 1 && o.reducers)
    add.node(role::reducer, "reducer", chief);
  add.node(role::outfeed, "outfeed", chief);
  add.node(role::checkpoint_writer, "checkpoint_writer", chief);
  if (o.summaries)
    add.node(role::summary_writer, "summary_writer", chief);
}

}  // namespace

expected<job_plan> make_plan(const plan_options& o) {
  if (o.hosts < 1 || o.replicas < 1 || o.replicas % o.hosts != 0)
    return fail(errc::invalid_argument, std::to_string(o.replicas) + " replicas cannot be spread evenly over "
                                            + std::to_string(o.hosts) + " hosts");
  job_plan p;
  plan_maker add{p};
  add.with_host_calls(o.host_calls);
  const auto chief = o.dataset ? add.number() : no_node;
  if (o.dataset)
    add_training(p, add, o, chief);
  for (int32_t i = 0; i < static_cast<int32_t>(o.evaluations.size()); ++i) {
    const auto& e = o.evaluations[static_cast<size_t>(i)];
    add.evaluation(e, chief, i, o.program);
    if (o.eval_summaries)
      add.node(role::eval_summary_writer, eval_summary_writer_name(e), chief, i);
  }
  if (o.predict_dataset)
    add.sub_plan(role::predictor, "predictor", no_node, 0, o.program, *o.predict_dataset, mode::predict);
  if (o.dataset && o.hooks)
    add.node(role::callbacks, "callbacks", chief);
  if (o.dataset)
    add.node(chief, role::chief, "chief", no_node);
  add_service_edges(p, o.checkpoints);
  return p;
}

}  // namespace troupe
