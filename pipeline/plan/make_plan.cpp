#include "pipeline/plan/make_plan.hpp"

#include "cluster/batch_table.hpp"

namespace troupe {

namespace {

divide division_of(input_mode m) {
  switch (m) {
    case input_mode::per_replica: return divide::each;
    case input_mode::broadcast: return divide::broadcast;
    case input_mode::per_core:
    case input_mode::per_host:
    case input_mode::sliced: break;
  }
  return divide::split;
}

void add_training(job_plan& p, plan_maker& add, const plan_options& o, node_id chief) {
  p.groups.push_back({});
  p.shown = {p.groups.back().id};
  const auto data = add.dataset(*o.dataset, mode::train);
  const auto program = add.program(o.program, mode::train);
  // How large a batch is does not matter here; this one can be divided.
  const topology over{.hosts = o.hosts, .cores_per_host = o.replicas / o.hosts, .replicas = o.replicas};
  const input_request wanted{.input_mode = o.input_mode, .batch = o.replicas};
  const auto inputs = static_cast<int32_t>(deployments(over, wanted).size());
  const auto infeeds = add.infeeds("", chief, data, inputs);
  for (int32_t r = 0; r < o.replicas; ++r) {
    auto& worker = add.node(role::replica, "replica/" + std::to_string(r), chief, r);
    worker.program = program;
    worker.in_ports = {std::string{data_port}};
    add.data_edge(infeeds[static_cast<size_t>(feed_of(over, wanted, r).input)], worker.id, data_port,
                  division_of(o.input_mode));
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
  std::vector<dealt_over> spread{{o.hosts, o.replicas}, o.predicted_by};
  for (const auto& e : o.evaluations)
    spread.push_back(e.by);
  for (const auto& [hosts, replicas] : spread)
    if (hosts < 1 || replicas < 1 || replicas % hosts != 0)
      return fail(errc::invalid_argument, std::to_string(replicas) + " replicas cannot be spread evenly over "
                                              + std::to_string(hosts) + " hosts");
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
  if (o.watches)
    add.node(role::checkpoint_watcher, "checkpoint_watcher", chief);
  if (o.predict_dataset)
    add.sub_plan(role::predictor, "predictor", no_node, 0, o.program, *o.predict_dataset, mode::predict,
                 o.predicted_by);
  if (o.dataset && o.hooks)
    add.node(role::callbacks, "callbacks", chief);
  if (o.dataset)
    add.node(chief, role::chief, "chief", no_node);
  add_service_edges(p, o.checkpoints);
  return p;
}

}  // namespace troupe
