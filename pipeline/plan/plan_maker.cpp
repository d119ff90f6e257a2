#include "pipeline/plan/plan_maker.hpp"

namespace troupe {

void plan_maker::sub_plan(role what, const std::string& name, node_id driver, int32_t index, const std::string& model,
                          const std::string& text, mode m, group_id group) {
  const auto head = node(what, name, driver, index).id;
  auto& feed = node(role::infeed, name + "/infeed/0", head);
  feed.dataset = dataset(text, m);
  feed.out_ports = {std::string{data_port}};
  const auto source = feed.id;
  auto& worker = node(role::replica, name + "/replica/0", head);
  worker.program = program(model, m, group);
  worker.group = group;
  worker.in_ports = {std::string{data_port}};
  data_edge(source, worker.id);
  node(role::outfeed, name + "/outfeed", head);
}

void plan_maker::evaluation(const plan_evaluation& e, node_id chief, int32_t index, const std::string& model,
                            group_id group) {
  sub_plan(role::evaluator, e.name.empty() ? "evaluator" : "evaluator/" + e.name, chief, index, model, e.dataset,
           mode::evaluate, group);
}

std::string eval_summary_writer_name(const plan_evaluation& e) {
  return e.name.empty() ? "summary_writer/eval" : "summary_writer/eval_" + e.name;
}

}  // namespace troupe
