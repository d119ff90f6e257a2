// The plan of a job, for people.
#include "estimator/describe.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

expected<plan_report> inspect_plan(const estimator& e, const train_spec& training, const std::optional<eval_spec>& evaluation) {
  const auto described = describe(e, training, evaluation);
  if (!described)
    return fail(described.error());
  const auto plan = training_plan(*described);
  if (!plan)
    return fail(plan.error());
  plan_report report;
  for (const auto& n : plan->nodes)
    report.nodes.push_back({n.name, std::string{to_string(n.what)}, n.work});
  for (const auto& edge : plan->edges)
    report.edges.push_back({edge.from, edge.to, std::string{to_string(edge.how)}, edge.credit_blocks});
  report.snapshot_parts = plan->snapshot_parts;
  return report;
}

}  // namespace troupe
