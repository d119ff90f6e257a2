#include "pipeline/plan/search_growth.hpp"

#include "ensemble/names.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

/// The iteration before, as it was while it trained.
shared_basis basis_before(const iteration_basis& basis) {
  auto before = std::make_shared<iteration_basis>(basis);
  before->builders.erase(basis.iteration());
  before->winners.pop_back();
  return before;
}

/// The variables of the previous ensemble that have moving averages in the last state of the iteration before. Those
/// that are older began that iteration as their averages, and are frozen since then.
expected<std::set<std::string>> averaged_before(const iteration_basis& basis, const element_spec& data) {
  const auto before = basis_before(basis);
  const auto& winner = *basis.previous();
  std::set<std::string> all;
  if (winner.made_in != before->iteration())
    return all;
  const auto add = [&all](const expected<std::vector<std::string>>& names) -> expected<void> {
    if (!names)
      return fail(names.error());
    all.insert(names->begin(), names->end());
    return {};
  };
  auto done = add(averaged_by_ensemble(before, {winner.spec, winner.recipe}, data));
  for (const auto& member : winner.recipe.members)
    if (done && member.iteration == before->iteration())
      done = add(averaged_by_subnetwork(before, member.builder, data));
  if (!done)
    return fail(done.error());
  return all;
}

}  // namespace

expected<planned_growth> growth_of(const shared_basis& basis, const iteration_specs& specs, const element_spec& data) {
  const auto averaged = averaged_before(*basis, data);
  if (!averaged)
    return fail(averaged.error());
  planned_growth planned;
  auto& growth = planned.stored = {.fresh = {"adanet/iteration_" + std::to_string(basis->iteration()) + "/"},
                                   .drops_rest = true};
  for (const auto& name : *averaged)
    growth.renamed[name] = average_of(name);
  const auto heads = std::max<size_t>(basis->options.head.parts.size(), 1);
  for (size_t i = 1; i < specs.candidates.size(); ++i) {
    const auto& candidate = specs.candidates[i];
    auto warm = warm_weights_of(*basis, candidate, heads);
    if (!warm.remark.empty())
      planned.remarks.push_back(candidate.spec + ": " + std::move(warm.remark));
    if (warm.variables.empty())
      continue;
    const auto own = averaged_by_ensemble(basis, candidate, data);
    if (!own)
      return fail(own.error());
    for (const auto& [name, from] : warm.variables) {
      const auto& source = growth.renamed[name] = averaged->contains(from) ? average_of(from) : from;
      if (std::find(own->begin(), own->end(), name) != own->end())
        growth.renamed[average_of(name)] = source;  // An average begins as its variable.
    }
  }
  return planned;
}

}  // namespace troupe
