// Adds nodes, edges, programs and datasets to a plan, and numbers them.
#pragma once

#include "plan/plan.hpp"

namespace troupe {

/// Who computes the batches of an evaluation or a prediction: replicas to which they are dealt, spread evenly over
/// hosts, each of which has an infeed.
struct dealt_over {
  int32_t hosts = 1;
  int32_t replicas = 1;
};

/// An evaluation in a plan. `name` may be empty; `dataset` is the text of its dataset.
struct plan_evaluation {
  std::string name, dataset;
  dealt_over by = {};
};

/// References to nodes are valid until the next node is added.
class plan_maker {
 public:
  explicit plan_maker(job_plan& p) : plan_(p) {}

  /// Whether models of programs that are added from now on have host calls.
  void with_host_calls(bool any) { host_calls_ = any; }
  /// Reserves a number for a node that is added later.
  node_id number() { return node_id{nodes_++}; }
  plan_node& node(role what, std::string name, node_id driver, int32_t index = 0) {
    return node(number(), what, std::move(name), driver, index);
  }
  plan_node& node(node_id id, role what, std::string name, node_id driver, int32_t index = 0) {
    plan_.nodes.push_back({.id = id, .what = what, .name = std::move(name), .driver = driver, .index = index});
    return plan_.nodes.back();
  }
  /// A port of a replica's outputs has the same name at both ends.
  void data_edge(node_id from, node_id to, std::string_view port = data_port, divide how = divide::split) {
    plan_.edges.push_back({.id = edge_id{static_cast<int32_t>(plan_.edges.size())},
                           .from = from,
                           .out = std::string{port},
                           .to = to,
                           .in = std::string{port},
                           .how = how});
  }
  size_t program(const std::string& model, mode m, group_id group = {}) {
    plan_.programs.push_back({model, m, group, host_calls_});
    return plan_.programs.size() - 1;
  }
  size_t dataset(const std::string& text, mode m) {
    plan_.datasets.push_back({text, m});
    return plan_.datasets.size() - 1;
  }
  /// Adds `count` infeeds of a dataset, "<prefix>infeed/0", ...
  std::vector<node_id> infeeds(const std::string& prefix, node_id driver, size_t data, int32_t count);
  /// Adds an evaluator or a predictor, and the nodes that it drives.
  void sub_plan(role what, const std::string& name, node_id driver, int32_t index, const std::string& model,
                const std::string& text, mode m, const dealt_over& by, group_id group = {});
  /// Adds evaluator number `index` of a chief, and the nodes that it drives.
  void evaluation(const plan_evaluation& e, node_id chief, int32_t index, const std::string& model,
                  group_id group = {});

 private:
  job_plan& plan_;
  int32_t nodes_ = 0;
  bool host_calls_ = false;
};

/// "summary_writer/eval_test"
std::string eval_summary_writer_name(const plan_evaluation& e);

}  // namespace troupe
