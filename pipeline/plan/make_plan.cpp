#include "pipeline/plan/make_plan.hpp"

namespace troupe {

namespace {

/// Adds nodes and edges to a plan and numbers them.
class builder {
 public:
  explicit builder(job_plan& p) : plan_(p) {}
  /// Reserves a number for a node that is added later.
  node_id number() { return node_id{nodes_++}; }
  plan_node& node(role what, std::string name, node_id driver, int32_t index = 0) {
    return node(number(), what, std::move(name), driver, index);
  }
  plan_node& node(node_id id, role what, std::string name, node_id driver, int32_t index = 0) {
    plan_.nodes.push_back({.id = id, .what = what, .name = std::move(name), .driver = driver, .index = index});
    return plan_.nodes.back();
  }
  void data_edge(node_id from, node_id to) {
    plan_.edges.push_back({.id = edge_id{static_cast<int32_t>(plan_.edges.size())}, .from = from, .to = to});
  }
  size_t program(const std::string& model, mode m) {
    plan_.programs.push_back({model, m});
    return plan_.programs.size() - 1;
  }
  size_t dataset(const std::string& text, mode m) {
    plan_.datasets.push_back({text, m});
    return plan_.datasets.size() - 1;
  }
  /// Adds an evaluator or a predictor, and the nodes that it drives.
  void sub_plan(role what, std::string name, node_id driver, int32_t index, const std::string& model,
                const std::string& text, mode m) {
    const auto head = node(what, name, driver, index).id;
    auto& feed = node(role::infeed, name + "/infeed/0", head);
    feed.dataset = dataset(text, m);
    feed.out_ports = {std::string{data_port}};
    const auto source = feed.id;
    auto& worker = node(role::replica, name + "/replica/0", head);
    worker.program = program(model, m);
    worker.in_ports = {std::string{data_port}};
    data_edge(source, worker.id);
    node(role::outfeed, name + "/outfeed", head);
  }

 private:
  job_plan& plan_;
  int32_t nodes_ = 0;
};

void add_training(job_plan& p, builder& add, const plan_options& o, node_id chief) {
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
  if (o.replicas > 1)
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
  builder add{p};
  const auto chief = o.dataset ? add.number() : no_node;
  if (o.dataset)
    add_training(p, add, o, chief);
  for (int32_t i = 0; i < static_cast<int32_t>(o.evaluations.size()); ++i) {
    const auto& [name, dataset] = o.evaluations[static_cast<size_t>(i)];
    add.sub_plan(role::evaluator, name.empty() ? "evaluator" : "evaluator/" + name, chief, i, o.program, dataset,
                 mode::evaluate);
    if (o.eval_summaries)
      add.node(role::eval_summary_writer, name.empty() ? "summary_writer/eval" : "summary_writer/eval_" + name, chief,
               i);
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
