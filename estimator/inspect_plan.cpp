// Inspects the plan of a job.
#include "estimator/describe.hpp"
#include "plan/checked_plan.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

expected<plan_description> inspect_plan(const estimator& e, const train_spec& training, const eval_specs& evaluations) {
  const auto described = describe(e, training, evaluations);
  if (!described)
    return fail(described.error());
  const auto planned = plan_of(*described);
  if (!planned)
    return fail(planned.error());
  const auto checked = checked_plan::of(planned->plan);
  if (!checked)
    return fail(checked.error());
  const auto& plan = checked->data();
  plan_description description;
  for (const auto& n : plan.nodes)
    description.nodes.push_back({n.name, std::string{to_string(n.what)}, work_of(plan, n)});
  for (const auto& edge : plan.edges)
    if (edge.kind == edge_kind::data)
      description.edges.push_back({checked->at(edge.from).name, checked->at(edge.to).name,
                                   std::string{to_string(edge.how)}, *edge.credit.messages});
  for (const auto* part : checked->parts())
    description.snapshot_parts.push_back(part->name);
  return description;
}

}  // namespace troupe
