#include "pipeline/plan/plan.hpp"

#include <algorithm>

namespace troupe {

std::string_view to_string(divide d) noexcept {
  switch (d) {
    case divide::split: return "split";
    case divide::each: return "each";
    case divide::broadcast: return "broadcast";
  }
  return "unknown";
}

const plan_node* job_plan::find(node_id id) const {
  const auto n = std::find_if(nodes.begin(), nodes.end(), [id](const plan_node& x) { return x.id == id; });
  return n == nodes.end() ? nullptr : &*n;
}

const plan_node* job_plan::find(role what, node_id driver) const {
  const auto n = std::find_if(nodes.begin(), nodes.end(), [&](const plan_node& x) { return x.what == what && x.driver == driver; });
  return n == nodes.end() ? nullptr : &*n;
}

const plan_group* job_plan::find(group_id id) const {
  const auto g = std::find_if(groups.begin(), groups.end(), [id](const plan_group& x) { return x.id == id; });
  return g == groups.end() ? nullptr : &*g;
}

std::vector<const plan_node*> job_plan::all(role what, node_id driver) const {
  std::vector<const plan_node*> found;
  for (const auto& n : nodes)
    if (n.what == what && n.driver == driver)
      found.push_back(&n);
  return found;
}

std::vector<const plan_edge*> job_plan::edges_from(node_id id) const {
  std::vector<const plan_edge*> found;
  for (const auto& e : edges)
    if (e.from == id)
      found.push_back(&e);
  return found;
}

std::vector<const plan_edge*> job_plan::edges_to(node_id id) const {
  std::vector<const plan_edge*> found;
  for (const auto& e : edges)
    if (e.to == id)
      found.push_back(&e);
  return found;
}

std::string work_of(const job_plan& p, const plan_node& n) {
  if (n.dataset)
    return p.datasets[*n.dataset].text;
  if (!n.program)
    return "";
  const auto& program = p.programs[*n.program];
  std::string text = program.model;
  if (program.mode != mode::train)
    text.append(" (").append(to_string(program.mode)).append(")");
  return text;
}

std::string to_text(const job_plan& p) {
  const auto end_of = [&p](node_id id, const std::string& port) {
    std::string text = p.find(id) ? p.at(id).name : "nobody";
    return port == data_port ? text : text.append(".").append(port);
  };
  std::string text;
  for (const auto& n : p.nodes) {
    const auto work = work_of(p, n);
    text.append("node ").append(n.name).append(": ").append(to_string(n.what)).append(work.empty() ? "" : " of ").append(work).append("\n");
  }
  for (const auto& e : p.edges) {
    text.append("edge ").append(std::to_string(index_of(e.id))).append(": ").append(end_of(e.from, e.out)).append(" => ").append(end_of(e.to, e.in));
    text.append(", ").append(to_string(e.how)).append(", ").append(std::to_string(e.credit_blocks)).append(" blocks\n");
  }
  for (const auto& g : p.groups) {
    if (g.on_failure == group_failure::leave)
      text.append("group ").append(g.name).append(": leaves if it fails\n");
    if (g.retires_at)
      text.append("group ").append(g.name).append(": retires at step ").append(std::to_string(*g.retires_at)).append("\n");
  }
  text += "snapshot:";
  for (const auto part : p.snapshot_parts)
    text.append(" ").append(end_of(part, std::string{data_port}));
  return text + "\n";
}

std::vector<const plan_node*> job_plan::replicas_of(size_t program) const {
  std::vector<const plan_node*> found;
  for (const auto& n : nodes)
    if (n.program == program)
      found.push_back(&n);
  return found;
}

namespace {

/// Adds nodes and edges, numbering them.
class builder {
 public:
  explicit builder(job_plan& p) : plan_(p) {}
  /// A number for a node that is listed later.
  node_id number() { return node_id{nodes_++}; }
  plan_node& node(role what, std::string name, node_id driver, int32_t index = 0) { return node(number(), what, std::move(name), driver, index); }
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
  /// An evaluator or a predictor, and the nodes that it drives.
  void sub_plan(role what, std::string name, node_id driver, int32_t index, const std::string& model, const std::string& text, mode m) {
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
  const auto data = add.dataset(*o.dataset, mode::train);
  const auto program = add.program(o.program, mode::train);
  std::vector<node_id> infeeds;
  for (int32_t h = 0; h < o.hosts; ++h) {
    auto& feed = add.node(role::infeed, "infeed/" + std::to_string(h), chief, h);
    feed.dataset = data;
    feed.out_ports = {std::string{data_port}};
    infeeds.push_back(feed.id);
    p.snapshot_parts.push_back(feed.id);
  }
  const int32_t readers = o.replicas / o.hosts;
  for (int32_t r = 0; r < o.replicas; ++r) {
    auto& worker = add.node(role::replica, "replica/" + std::to_string(r), chief, r);
    worker.program = program;
    worker.in_ports = {std::string{data_port}};
    p.snapshot_parts.push_back(worker.id);
    add.data_edge(infeeds[static_cast<size_t>(r / readers)], worker.id);
  }
  p.snapshot_parts.push_back(chief);
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
    add.sub_plan(role::evaluator, name.empty() ? "evaluator" : "evaluator/" + name, chief, i, o.program, dataset, mode::evaluate);
    if (o.eval_summaries)
      add.node(role::eval_summary_writer, name.empty() ? "summary_writer/eval" : "summary_writer/eval_" + name, chief, i);
  }
  if (o.predict_dataset)
    add.sub_plan(role::predictor, "predictor", no_node, 0, o.program, *o.predict_dataset, mode::predict);
  if (o.dataset && o.hooks)
    add.node(role::callbacks, "callbacks", chief);
  if (o.dataset)
    add.node(chief, role::chief, "chief", no_node);
  if (!o.checkpoints)
    p.snapshot_parts.clear();
  return p;
}

}  // namespace troupe
