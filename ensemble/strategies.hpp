// Strategies: which subnetworks form the candidates of an iteration.
//
//   propose({strategy::grow(), strategy::all()}, {"linear", "dnn"}, members_of_the_previous_winner)
#pragma once

#include "ensemble/architecture.hpp"

#include <functional>

namespace troupe {

/// A group of subnetworks, before an ensembler makes an ensemble of them.
struct ensemble_candidate {
  std::string name = {};
  std::vector<std::string> builders = {};  ///< Of this iteration.
  std::vector<ensemble_member> kept = {};  ///< Of the previous ensemble.
  friend bool operator==(const ensemble_candidate&, const ensemble_candidate&) = default;
};

/// A pure function from the builders of an iteration and the members of the previous ensemble to candidates.
struct strategy {
  using function = std::function<std::vector<ensemble_candidate>(const std::vector<std::string>& builders,
                                                                 const std::vector<ensemble_member>& previous)>;
  std::string name = {};  ///< For messages.
  function candidates = {};

  /// For each builder "<builder>_grow": the previous ensemble and this builder. The default.
  static strategy grow();
  /// For each builder "<builder>_solo": this builder alone.
  static strategy solo();
  /// One candidate, "all": the previous ensemble and all builders.
  static strategy all();
  /// Must return the same for the same arguments, because past iterations are proposed again. A candidate that keeps a
  /// part of the previous ensemble prunes it.
  static strategy custom(std::string name, function candidates);
};

/// The candidates of all strategies, in the order of the strategies. Kept members are in the order of `previous`.
/// Errors: invalid_argument for no builders, no strategies, two builders or candidates of one name, a name that
/// `check_name` refuses, the builder "previous_ensemble", and for a candidate that is empty, that names a builder or a
/// member that there is not, or that names one twice; `state` for a custom function that throws.
expected<std::vector<ensemble_candidate>> propose(const std::vector<strategy>& strategies,
                                                  const std::vector<std::string>& builders,
                                                  const std::vector<ensemble_member>& previous);

/// Checks that a past iteration can be built again. Its winner is `stored`, which must list members of `iteration`:
/// without those the previous ensemble had won, and nothing is built. `builders` are those that the generator returns
/// for that iteration now; the strategies get only those that `stored` lists. Returns the candidate. Errors:
/// failed_precondition naming the iteration and a builder that the generator no longer returns, or the candidate that
/// the strategies no longer propose in the same form; those of `propose`.
expected<ensemble_candidate> propose_again(const std::vector<strategy>& strategies, const architecture& stored,
                                           int64_t iteration, const std::vector<std::string>& builders,
                                           const std::vector<ensemble_member>& previous);

}  // namespace troupe
