#include "pipeline/plan/plan_maker.hpp"

namespace troupe {

std::vector<node_id> plan_maker::infeeds(const std::string& prefix, node_id driver, size_t data, int32_t count) {
  std::vector<node_id> all;
  for (int32_t i = 0; i < count; ++i) {
    auto& feed = node(role::infeed, prefix + "infeed/" + std::to_string(i), driver, i);
    feed.dataset = data;
    feed.out_ports = {std::string{data_port}};
    all.push_back(feed.id);
  }
  return all;
}

void plan_maker::sub_plan(role what, const std::string& name, node_id driver, int32_t index, const std::string& model,
                          const std::string& text, mode m, const dealt_over& by, group_id group) {
  const auto head = node(what, name, driver, index).id;
  const auto data = dataset(text, m);
  const auto computes = program(model, m, group);
  const auto feeds = infeeds(name + "/", head, data, by.hosts);
  for (int32_t r = 0; r < by.replicas; ++r) {
    auto& worker = node(role::replica, name + "/replica/" + std::to_string(r), head, r);
    worker.program = computes;
    worker.group = group;
    worker.in_ports = {std::string{data_port}};
    data_edge(feeds[static_cast<size_t>(r / (by.replicas / by.hosts))], worker.id, data_port, divide::each);
  }
  node(role::outfeed, name + "/outfeed", head);
}

void plan_maker::evaluation(const plan_evaluation& e, node_id chief, int32_t index, const std::string& model,
                            group_id group) {
  sub_plan(role::evaluator, e.name.empty() ? "evaluator" : "evaluator/" + e.name, chief, index, model, e.dataset,
           mode::evaluate, e.by, group);
}

std::string eval_summary_writer_name(const plan_evaluation& e) {
  return e.name.empty() ? "summary_writer/eval" : "summary_writer/eval_" + e.name;
}

}  // namespace troupe
