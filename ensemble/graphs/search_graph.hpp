// Builds subnetworks and ensembles of a search in one graph, each when it is first asked for.
#pragma once

#include "ensemble/graphs/ensemble_graph.hpp"
#include "ensemble/iteration_basis.hpp"

namespace troupe {

/// Where the variables of a candidate are: those of the previous ensemble in the iteration that made it.
ensemble_place place_of(const iteration_basis& basis, const candidate_spec& candidate);
/// The previous ensemble as a candidate; there must be one.
candidate_spec previous_candidate(const iteration_basis& basis);
/// The value of an output, or an error of the graph (key_missing) that names the member and the outputs that it has.
symbol output_of(graph& g, const subnetwork& made, const std::string& spec, const std::string& name);
/// The members of a candidate for its ensembler, without outputs.
std::vector<ensembled_member> members_of(const iteration_basis& basis, const candidate_spec& candidate);

/// What a builder may read of the previous ensemble is built in the same graph, down to the first iteration, but only
/// what it reads. The basis and the graph must live as long as this.
class search_graph {
 public:
  search_graph(const iteration_basis& basis, graph& g, features data, labels of_data, mode m);
  search_graph(const search_graph&) = delete;
  search_graph& operator=(const search_graph&) = delete;

  /// Errors of the graph: those of `build_member`; failed_precondition naming iteration and builder if the generator no
  /// longer returns it. The reference stays valid.
  const subnetwork& member(const ensemble_member& who);
  /// Errors of the graph: those of `build_ensemble`; failed_precondition naming an ensembler that there is not.
  const built_ensemble& ensemble(const candidate_spec& candidate);
  /// The context of builders of an iteration.
  build_context context(int64_t iteration);

 private:
  const previous_outputs* previous_of(int64_t iteration);

  const iteration_basis& basis_;
  graph& graph_;
  features data_;
  labels labels_;
  mode mode_;
  std::map<ensemble_member, subnetwork> members_;
  std::map<std::string, built_ensemble> ensembles_;
  std::map<int64_t, previous_outputs> previous_;
};

}  // namespace troupe
