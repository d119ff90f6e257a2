#include "ensemble/iteration_basis.hpp"

#include "ensemble/names.hpp"
#include "ensemble/objective.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

expected<std::vector<builder>> builders_at(int64_t iteration, const iteration_basis& basis,
                                           const search_reports& reports) {
  generator_input in{.iteration = iteration, .reports = reports_before(reports, iteration)};
  if (iteration > 0)
    in.previous = basis.winners[static_cast<size_t>(iteration) - 1].recipe;
  return guarded("the generator of builders, asked for iteration " + std::to_string(iteration),
                 [&] { return basis.options.subnetwork_generator(in); });
}

std::vector<std::string> names_of(const std::vector<builder>& builders) {
  std::vector<std::string> names;
  for (const auto& b : builders)
    names.push_back(b.name);
  return names;
}

bool has_members_of(const architecture& recipe, int64_t iteration) {
  return std::any_of(recipe.members.begin(), recipe.members.end(),
                     [&](const ensemble_member& m) { return m.iteration == iteration; });
}

/// Whether the iteration that made the members of the previous winner can be built again.
expected<void> check_past(const iteration_basis& basis, int64_t iteration) {
  const auto at = static_cast<size_t>(iteration);
  if (!has_members_of(basis.previous()->recipe, iteration))
    return {};
  const auto before = at == 0 ? std::vector<ensemble_member>{} : basis.winners[at - 1].recipe.members;
  const auto again = propose_again(basis.options.ensemble_strategies, basis.winners[at].recipe, iteration,
                                   names_of(basis.builders.at(iteration)), before);
  return again ? expected<void>{} : fail(again.error());
}

}  // namespace

const builder* iteration_basis::find(const ensemble_member& who) const {
  const auto of_iteration = builders.find(who.iteration);
  if (of_iteration == builders.end())
    return nullptr;
  const auto& all = of_iteration->second;
  const auto found = std::find_if(all.begin(), all.end(), [&](const builder& b) { return b.name == who.builder; });
  return found == all.end() ? nullptr : &*found;
}

const ensembler* iteration_basis::find_ensembler(std::string_view name) const {
  const auto& all = options.ensemblers;
  const auto found = std::find_if(all.begin(), all.end(), [&](const ensembler& e) { return name_of(e) == name; });
  return found == all.end() ? nullptr : &*found;
}

expected<std::shared_ptr<const iteration_basis>> basis_of(search_options options, const search_books& books) {
  auto basis = std::make_shared<iteration_basis>();
  basis->options = std::move(options);
  basis->winners = books.winners;
  if (!basis->options.subnetwork_generator)
    return fail(errc::invalid_argument, "subnetwork_generator is missing, such as troupe::generators::simple_dnn({})");
  for (int64_t i = 0; i <= basis->iteration(); ++i) {
    if (i < basis->iteration() && basis->winners[static_cast<size_t>(i)].made_in != i)
      continue;
    auto builders = builders_at(i, *basis, books.reports);
    if (!builders)
      return fail(std::move(builders.error()));
    basis->builders[i] = std::move(*builders);
    if (i < basis->iteration())
      if (auto right = check_past(*basis, i); !right)
        return fail(std::move(right.error()));
  }
  return basis;
}

expected<iteration_specs> specs_of(const iteration_basis& basis) {
  std::vector<subnetwork_spec> subnetworks;
  for (const auto& b : basis.builders.at(basis.iteration())) {
    if (b.steps_max && (*b.steps_max < 1 || *b.steps_max > ticks_max))
      return fail(errc::invalid_argument, "the builder " + quoted(printable(b.name))
                                              + ": steps_max must be from 1 to 2^53, not "
                                              + std::to_string(*b.steps_max));
    subnetworks.push_back({b.name, b.steps_max});
  }
  std::vector<std::string> ensemblers;
  for (const auto& e : basis.options.ensemblers)
    ensemblers.push_back(name_of(e));
  std::optional<previous_ensemble> previous;
  if (const auto* winner = basis.previous())
    previous = previous_ensemble{winner->spec, winner->made_in, winner->recipe};
  return specs_of(basis.iteration(), std::move(subnetworks), previous, basis.options.ensemble_strategies, ensemblers);
}

warm_weights warm_weights_of(const iteration_basis& basis, const candidate_spec& candidate, size_t heads) {
  const auto regularized = [&](const std::string& name) {
    const auto* found = basis.find_ensembler(name);
    return found ? std::get_if<complexity_regularized_ensembler>(found) : nullptr;
  };
  const auto* own = regularized(candidate.recipe.ensembler);
  const auto* before = basis.previous();
  const auto* old = before ? regularized(before->recipe.ensembler) : nullptr;
  if (!own || !old || !own->warm_start_mixture_weights || own->mixture_weight_type != old->mixture_weight_type)
    return {};
  const auto& previous = before->recipe.members;
  std::vector<size_t> kept;
  for (const auto& member : candidate.recipe.members)
    if (const auto at = std::find(previous.begin(), previous.end(), member); at != previous.end())
      kept.push_back(static_cast<size_t>(at - previous.begin()));
  const auto starts = weight_starts(own->mixture_weight_type, kept, candidate.recipe.members.size() - kept.size(),
                                    true);
  const auto bias = bias_start_of(previous.size(), kept.size(), true);
  warm_weights warm{.remark = bias.remark};
  for (size_t head = 0; head < heads; ++head) {
    for (size_t k = 0; k < starts.size(); ++k)
      if (starts[k].inherited)
        warm.variables.push_back({mixture_weight_key(basis.iteration(), candidate.spec, k, head),
                                  mixture_weight_key(before->made_in, before->spec, *starts[k].inherited, head)});
    if (bias.inherited)
      warm.variables.push_back(
          {bias_key(basis.iteration(), candidate.spec, head), bias_key(before->made_in, before->spec, head)});
  }
  return warm;
}

}  // namespace troupe
