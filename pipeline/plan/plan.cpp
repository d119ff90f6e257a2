#include "pipeline/plan/plan.hpp"

namespace troupe {

std::string_view to_string(role r) noexcept {
  switch (r) {
    case role::infeed: return "infeed";
    case role::replica: return "replica";
    case role::reducer: return "reducer";
    case role::outfeed: return "outfeed";
    case role::checkpoint_writer: return "checkpoint_writer";
    case role::summary_writer: return "summary_writer";
    case role::evaluator: return "evaluator";
    case role::callbacks: return "callbacks";
    case role::chief: return "chief";
  }
  return "unknown";
}

std::string_view to_string(divide d) noexcept {
  return d == divide::split ? "split" : "broadcast";
}

std::string to_text(const job_plan& p) {
  std::string text;
  for (const auto& n : p.nodes)
    text += "node " + n.name + ": " + std::string{to_string(n.what)} + (n.work.empty() ? "" : " of " + n.work) + "\n";
  for (const auto& e : p.edges)
    text += "edge " + std::to_string(e.id) + ": " + e.from + " => " + e.to + ", " + std::string{to_string(e.how)} + ", "
            + std::to_string(e.credit_blocks) + " blocks\n";
  text += "snapshot:";
  for (const auto& part : p.snapshot_parts)
    text += " " + part;
  return text + "\n";
}

expected<job_plan> make_training_plan(const plan_options& o) {
  if (o.hosts < 1 || o.replicas < 1 || o.replicas % o.hosts != 0)
    return fail(errc::invalid_argument, std::to_string(o.replicas) + " replicas cannot be spread evenly over "
                                          + std::to_string(o.hosts) + " hosts");
  job_plan p;
  for (int32_t h = 0; h < o.hosts; ++h) {
    p.nodes.push_back({"infeed/" + std::to_string(h), role::infeed, o.dataset});
    p.snapshot_parts.push_back(p.nodes.back().name);
  }
  const int32_t readers = o.replicas / o.hosts;
  for (int32_t r = 0; r < o.replicas; ++r) {
    p.nodes.push_back({"replica/" + std::to_string(r), role::replica, o.program});
    p.snapshot_parts.push_back(p.nodes.back().name);
    p.edges.push_back({r, "infeed/" + std::to_string(r / readers), p.nodes.back().name, divide::split});
  }
  p.snapshot_parts.push_back("chief");
  if (o.replicas > 1)
    p.nodes.push_back({"reducer", role::reducer, ""});
  p.nodes.push_back({"outfeed", role::outfeed, ""});
  p.nodes.push_back({"checkpoint_writer", role::checkpoint_writer, ""});
  if (o.summaries)
    p.nodes.push_back({"summary_writer", role::summary_writer, ""});
  if (o.evaluates) {
    p.nodes.push_back({"evaluator", role::evaluator, ""});
    p.nodes.push_back({"evaluator/infeed/0", role::infeed, o.eval_dataset});
    p.nodes.push_back({"evaluator/replica/0", role::replica, o.program + " (evaluate)"});
    p.nodes.push_back({"evaluator/outfeed", role::outfeed, ""});
    p.edges.push_back({0, "evaluator/infeed/0", "evaluator/replica/0", divide::split});
    if (o.eval_summaries)
      p.nodes.push_back({"summary_writer/eval", role::summary_writer, ""});
  }
  if (o.hooks)
    p.nodes.push_back({"callbacks", role::callbacks, ""});
  p.nodes.push_back({"chief", role::chief, ""});
  if (!o.checkpoints)
    p.snapshot_parts.clear();
  return p;
}

}  // namespace troupe
