// The plan of a job, for people.
#include "estimator/describe.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

expected<plan_report> inspect_plan(const estimator& e, const train_spec& training, const eval_specs& evaluations) {
  const auto described = describe(e, training, evaluations);
  if (!described)
    return fail(described.error());
  const auto planned = plan_of(*described);
  if (!planned)
    return fail(planned.error());
  const auto& plan = planned->plan;
  plan_report report;
  for (const auto& n : plan.nodes)
    report.nodes.push_back({n.name, std::string{to_string(n.what)}, work_of(plan, n)});
  for (const auto& edge : plan.edges)
    report.edges.push_back({plan.at(edge.from).name, plan.at(edge.to).name, std::string{to_string(edge.how)}, edge.credit_blocks});
  for (const auto part : plan.snapshot_parts)
    report.snapshot_parts.push_back(plan.at(part).name);
  return report;
}

}  // namespace troupe
