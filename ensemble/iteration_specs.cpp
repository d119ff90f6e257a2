#include "ensemble/iteration_specs.hpp"

#include "ensemble/names.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

candidate_spec spec_of(int64_t iteration, const ensemble_candidate& c, const std::string& ensembler) {
  candidate_spec spec{ensemble_spec_name(iteration, c.name, ensembler),
                      {.candidate = c.name, .ensembler = ensembler, .members = c.kept, .iteration = iteration}};
  for (const auto& builder : c.builders)
    spec.recipe.members.push_back({iteration, builder});
  return spec;
}

/// Specs name groups, folders and files, so a subnetwork and an ensemble may not have the same name either.
expected<void> check_spec_names(int64_t iteration, const iteration_specs& specs) {
  std::set<std::string> taken;
  std::vector<std::string> all;
  for (const auto& subnetwork : specs.subnetworks)
    all.push_back(subnetwork_spec_name(iteration, subnetwork.builder));
  for (const auto& candidate : specs.candidates)
    all.push_back(candidate.spec);
  for (const auto& name : all)
    if (!taken.insert(name).second)
      return fail(errc::invalid_argument, "two specs of iteration " + std::to_string(iteration) + " have the name "
                                              + quoted(name)
                                              + "; builders, candidates or ensemblers must have other names");
  for (const auto& name : taken)
    if (const auto inner = taken.lower_bound(name + "/"); inner != taken.end() && inner->starts_with(name + "/"))
      return fail(errc::invalid_argument, "the spec " + quoted(*inner) + " of iteration " + std::to_string(iteration)
                                              + " would lie in the folder of " + quoted(name)
                                              + ", and its metrics among those; a builder must have another name");
  return {};
}

expected<void> check_ensemblers(const std::vector<std::string>& ensemblers) {
  if (ensemblers.empty())
    return fail(errc::invalid_argument, "there is no ensembler");
  for (const auto& ensembler : ensemblers)
    if (auto right = check_name("the ensembler", ensembler); !right)
      return right;
  return {};
}

}  // namespace

expected<iteration_specs> specs_of(int64_t iteration, std::vector<subnetwork_spec> subnetworks,
                                   const std::optional<previous_ensemble>& previous,
                                   const std::vector<strategy>& strategies,
                                   const std::vector<std::string>& ensemblers) {
  std::vector<std::string> builders;
  for (const auto& subnetwork : subnetworks)
    builders.push_back(subnetwork.builder);
  const auto proposed = propose(strategies, builders,
                                previous ? previous->recipe.members : std::vector<ensemble_member>{});
  if (!proposed)
    return fail(proposed.error());
  if (auto right = check_ensemblers(ensemblers); !right)
    return fail(std::move(right.error()));
  if (previous && std::find(builders.begin(), builders.end(), previous->spec) != builders.end())
    return fail(errc::invalid_argument,
                "the builder " + quoted(previous->spec) + " has the name of the previous ensemble");
  iteration_specs specs{.subnetworks = std::move(subnetworks)};
  if (previous)
    specs.candidates.push_back({previous->spec, previous->recipe});
  for (const auto& ensembler : ensemblers)
    for (const auto& candidate : *proposed)
      specs.candidates.push_back(spec_of(iteration, candidate, ensembler));
  if (auto right = check_spec_names(iteration, specs); !right)
    return fail(std::move(right.error()));
  return specs;
}

std::vector<size_t> readers_of(const iteration_specs& specs, int64_t iteration, std::string_view builder) {
  const auto reads = [&](const ensemble_member& m) { return m.iteration == iteration && m.builder == builder; };
  std::vector<size_t> found;
  for (size_t i = 0; i < specs.candidates.size(); ++i)
    if (const auto& members = specs.candidates[i].recipe.members; std::any_of(members.begin(), members.end(), reads))
      found.push_back(i);
  return found;
}

}  // namespace troupe
