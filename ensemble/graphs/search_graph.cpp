#include "ensemble/graphs/search_graph.hpp"

#include "ensemble/graphs/member_graph.hpp"
#include "ensemble/graphs/outputs.hpp"
#include "ensemble/names.hpp"
#include "words/text.hpp"

namespace troupe {

namespace {

std::string spec_of(const ensemble_member& who) { return subnetwork_spec_name(who.iteration, who.builder); }

}  // namespace

ensemble_place place_of(const iteration_basis& basis, const candidate_spec& candidate) {
  for (const auto& winner : basis.winners)
    if (winner.spec == candidate.spec)
      return {winner.made_in, winner.spec};
  return {basis.iteration(), candidate.spec};
}

candidate_spec previous_candidate(const iteration_basis& basis) {
  return {basis.previous()->spec, basis.previous()->recipe};
}

symbol output_of(graph& g, const subnetwork& made, const std::string& spec, const std::string& name) {
  const auto all = outputs_of(made);
  if (const auto found = all.find(name); found != all.end())
    return found->second;
  return g.invalid({errc::key_missing, spec + " has no output " + quoted(name) + "; there are: "
                                           + joined(all, ", ", [](const auto& one) { return quoted(one.first); })});
}

std::vector<ensembled_member> members_of(const iteration_basis& basis, const candidate_spec& candidate) {
  const int64_t made_in = place_of(basis, candidate).iteration;  // A winner is built again as it was chosen.
  std::vector<ensembled_member> members;
  for (const auto& who : candidate.recipe.members)
    members.push_back({.who = who, .is_new = who.iteration == made_in});
  return members;
}

search_graph::search_graph(const iteration_basis& basis, graph& g, features data, labels of_data, mode m)
  : basis_(basis), graph_(g), data_(std::move(data)), labels_(std::move(of_data)), mode_(m) {}

const subnetwork& search_graph::member(const ensemble_member& who) {
  if (const auto found = members_.find(who); found != members_.end())
    return found->second;
  const auto* b = basis_.find(who);
  if (!b) {
    graph_.invalid({errc::failed_precondition, "the generator no longer returns the builder " + quoted(who.builder)
                                                   + " for iteration " + std::to_string(who.iteration)});
    return members_[who];
  }
  const auto c = context(who.iteration);
  const fixed_scope scope{graph_, subnetwork_scope(who.iteration, who.builder)};
  auto made = build_member(graph_, *b, c, basis_.options.head);
  return members_[who] = std::move(made);
}

const built_ensemble& search_graph::ensemble(const candidate_spec& candidate) {
  if (const auto found = ensembles_.find(candidate.spec); found != ensembles_.end())
    return found->second;
  const auto* e = basis_.find_ensembler(candidate.recipe.ensembler);
  if (!e) {
    graph_.invalid({errc::failed_precondition, "the ensemble " + quoted(candidate.spec) + " is of the ensembler "
                                                   + quoted(candidate.recipe.ensembler)
                                                   + ", which the search does not have"});
    return ensembles_[candidate.spec];
  }
  ensemble_context c{
      .members = members_of(basis_, candidate), .logits_dimension = basis_.options.head.logits, .mode = mode_};
  for (auto& m : c.members) {
    const auto& made = member(m.who);
    m.last_layer = made.last_layer;
    m.logits = made.logits;
    m.complexity = made.complexity.value_or(0);
  }
  if (!graph_.status())
    return ensembles_[candidate.spec];
  return ensembles_[candidate.spec] = build_ensemble(graph_, *e, place_of(basis_, candidate), c, basis_.options.head);
}

build_context search_graph::context(int64_t iteration) {
  return {data_, labels_, mode_, basis_.options.head.logits, iteration, previous_of(iteration)};
}

const previous_outputs* search_graph::previous_of(int64_t iteration) {
  if (iteration == 0)
    return nullptr;
  if (const auto found = previous_.find(iteration); found != previous_.end())
    return &found->second;
  const auto& winner = basis_.winners[static_cast<size_t>(iteration) - 1];
  const auto who = [&winner](size_t i) -> const ensemble_member* {
    return i < winner.recipe.members.size() ? &winner.recipe.members[i] : nullptr;
  };
  const auto no_member = [this, &winner](size_t i) {
    return graph_.invalid({errc::key_missing, "the previous ensemble has no member " + std::to_string(i) + ", only "
                                                  + std::to_string(winner.recipe.members.size())});
  };
  previous_outputs made{.recipe = winner.recipe};
  made.logits = [this, &winner] { return ensemble({winner.spec, winner.recipe}).logits; };
  made.output = [this, who, no_member](size_t i, const std::string& name) {
    const auto* m = who(i);
    return m ? output_of(graph_, member(*m), spec_of(*m), name) : no_member(i);
  };
  made.facts = [this, who, no_member](size_t i) -> const subnetwork& {
    static const subnetwork none;
    if (const auto* m = who(i))
      return member(*m);
    no_member(i);
    return none;
  };
  return &(previous_[iteration] = std::move(made));
}

}  // namespace troupe
