// Plans that tests write by hand, in a few lines for each node.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "support/ids.hpp"
#include "support/small_job.hpp"

#include <troupe/nn.hpp>

namespace troupe::test {

/// The nodes of one training. The chief has the number 0.
struct hand_written {
  job_plan plan;
  plan_resources resources;
  int32_t evaluations = 0;
  bool reducers = true;  ///< Of groups of several replicas; otherwise these meet in a collective.

  group_id group(std::string name) {
    plan.groups.push_back({group_id{static_cast<int32_t>(plan.groups.size())}, std::move(name)});
    plan.shown.push_back(plan.groups.back().id);
    return plan.groups.back().id;
  }
  size_t program(const model& m, group_id of) {
    plan.programs.push_back({m.name, mode::train, of});
    resources.models.push_back(std::make_shared<const model>(m));
    return plan.programs.size() - 1;
  }
  size_t data(const dataset& d) {
    plan.datasets.push_back({d.to_text(), mode::train});
    resources.datasets.push_back(d);
    return plan.datasets.size() - 1;
  }
  /// A node that outlives an iteration gets its number from its role, so that it keeps it in the next plan.
  plan_node& node(role what, std::string name) {
    const auto same = std::count_if(plan.nodes.begin(), plan.nodes.end(),
                                    [what](const plan_node& n) { return n.what == what; });
    const auto number = row_of(what).outlives_iteration
                            ? 1'000 + 100 * static_cast<int32_t>(what) + static_cast<int32_t>(same)
                            : static_cast<int32_t>(plan.nodes.size() + 1);
    const auto id = node_id{number};
    plan.nodes.push_back({.id = id, .what = what, .name = std::move(name), .driver = 0_node});
    return plan.nodes.back();
  }
  node_id infeed(std::string name, size_t dataset, int32_t index = 0) {
    auto& n = node(role::infeed, std::move(name));
    n.dataset = dataset;
    n.index = index;
    n.out_ports = {"data"};
    return n.id;
  }
  node_id replica(std::string name, size_t program, int32_t index, std::vector<std::string> in_ports,
                  std::vector<std::string> out_ports = {}) {
    auto& n = node(role::replica, std::move(name));
    n.program = program;
    n.group = plan.programs[program].group;
    n.index = index;
    n.in_ports = std::move(in_ports);
    n.out_ports = std::move(out_ports);
    return n.id;
  }
  void edge(node_id from, std::string out, node_id to, std::string in, divide how = divide::broadcast) {
    plan.edges.push_back({.id = edge_id{static_cast<int32_t>(plan.edges.size())},
                          .from = from,
                          .out = std::move(out),
                          .to = to,
                          .in = std::move(in),
                          .how = how});
  }
  /// Adds an evaluation of `m`, which reads the variables of group `of`, and a summary writer for its results.
  /// Evaluations are numbered in the order of the calls.
  void evaluation(const std::string& name, const model& m, group_id of, const dataset& d) {
    const auto index = evaluations++;
    const auto whole = name.empty() ? "evaluator" : "evaluator/" + name;
    auto& head = node(role::evaluator, whole);
    head.index = index;
    const auto driver = head.id;
    plan.programs.push_back({m.name, mode::evaluate, of});
    resources.models.push_back(std::make_shared<const model>(m));
    plan.datasets.push_back({d.to_text(), mode::evaluate});
    resources.datasets.push_back(d);
    auto& feed = node(role::infeed, whole + "/infeed/0");
    feed.dataset = plan.datasets.size() - 1;
    feed.out_ports = {"data"};
    feed.driver = driver;
    const auto source = feed.id;
    auto& worker = node(role::replica, whole + "/replica/0");
    worker.program = plan.programs.size() - 1;
    worker.group = of;
    worker.in_ports = {"data"};
    worker.driver = driver;
    edge(source, "data", worker.id, "data");
    node(role::outfeed, whole + "/outfeed").driver = driver;
    node(role::eval_summary_writer, name.empty() ? "summary_writer/eval" : "summary_writer/eval_" + name).index = index;
  }
  void reducer(std::string name, group_id of) { node(role::reducer, std::move(name)).group = of; }
  /// Adds the nodes and edges that every job has.
  void finish(bool saves = true) {
    node(role::outfeed, "outfeed");
    node(role::checkpoint_writer, "checkpoint_writer");
    plan.nodes.push_back({.id = 0_node, .what = role::chief, .name = "chief"});
    for (auto& n : plan.nodes)
      n.stops_at_infeeds = plan.groups.size() > 1
                           && ((n.what == role::infeed && n.driver == 0_node) || n.what == role::chief);
    add_service_edges(plan, saves);
  }
  std::shared_ptr<prepared_job> prepared(training_job job) const {
    auto made = prepare(std::move(job), {plan, resources});
    if (!made)
      throw std::runtime_error(to_text(made.error()));
    return *made;
  }
};

/// Two dense layers in a scope of their own; other models can read the logits.
inline model candidate(const std::string& name, int64_t units) {
  return {name, [name, units](graph& g, const features& x, const labels& y, mode m) {
            const auto scope = g.scope(name);
            g.observe("mean", reduce_mean(x["x"]));
            const auto logits = nn::dense(nn::dense(x["x"], {.units = units, .activation = relu}), {.units = 3});
            auto spec = multi_class_head{.classes = 3}.spec(
                g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = momentum{.rate = 0.05f}});
            spec.predictions = {{"logits", logits}};
            return spec;
          }};
}

/// A mixture that learns a weight for each of the candidates a and b.
inline model mixture_of_two() {
  return {"mixture", [](graph& g, const features& x, const labels& y, mode m) {
            const auto scope = g.scope("mixture");
            const auto weight = [&](const char* name) {
              return g.variable({.name = name, .dims = {3}, .initial = init::ones()});
            };
            const auto logits = add(mul(x["a"], weight("a")), mul(x["b"], weight("b")));
            return multi_class_head{.classes = 3}.spec(
                g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = adam{.rate = 0.05f}});
          }};
}

/// Adds two candidates that one infeed feeds, and a mixture that reads their logits; each group has `replicas`
/// replicas.
inline void add_two_candidates(hand_written& w, const dataset& input, int32_t replicas,
                               const std::pair<model, model>& models = {candidate("a", 5), candidate("b", 7)}) {
  const auto mixture = w.group("mixture"), a = w.group("a"), b = w.group("b");  // The first group's loss is the job's.
  const auto mixes = w.program(mixture_of_two(), mixture), runs_a = w.program(models.first, a),
             runs_b = w.program(models.second, b);
  const auto feed = w.infeed("feed", w.data(input));
  const auto how = replicas > 1 ? divide::split : divide::broadcast;
  for (int32_t r = 0; r < replicas; ++r) {
    const auto number = "/replica/" + std::to_string(r);
    const auto of_a = w.replica("a" + number, runs_a, r, {"data"}, {"logits"}),
               of_b = w.replica("b" + number, runs_b, r, {"data"}, {"logits"});
    const auto mix = w.replica("mixture" + number, mixes, r, {"data", "a", "b"});
    for (const auto to : {of_a, of_b, mix})
      w.edge(feed, "data", to, "data", how);
    w.edge(of_a, "logits", mix, "a");
    w.edge(of_b, "logits", mix, "b");
  }
  if (replicas > 1 && w.reducers)
    for (const auto& g : w.plan.groups)
      w.reducer(g.name + "/reducer", g.id);
}
inline hand_written two_candidates(const dataset& input, int32_t replicas = 1) {
  hand_written w;
  add_two_candidates(w, input, replicas);
  w.finish();
  return w;
}

/// `two_candidates` with an evaluation of each candidate, hooks and summaries.
inline hand_written two_candidates_evaluated(const dataset& input, int32_t replicas = 1) {
  hand_written w;
  add_two_candidates(w, input, replicas);
  w.evaluation("a", candidate("a", 5), 1_group, small_evaluation().input);
  w.evaluation("b", candidate("b", 7), 2_group, small_evaluation().input);
  w.node(role::callbacks, "callbacks");
  w.node(role::summary_writer, "summary_writer");
  w.finish();
  return w;
}

/// The tensors whose names begin with `prefix`, by name, without the steps of specs of a search.
inline std::map<std::string, tensor> variables(const checkpoint_content& c, const std::string& prefix) {
  std::map<std::string, tensor> found;
  for (const auto& t : c.tensors)
    if (t.name.starts_with(prefix) && !t.name.ends_with("/step"))
      found.emplace(t.name, t.value);
  return found;
}

}  // namespace troupe::test
