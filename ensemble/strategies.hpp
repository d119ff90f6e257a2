// Strategies: which subnetworks form the candidates of an iteration.
//
//   propose({strategy::grow(), strategy::all()}, {"linear", "dnn"}, members_of_the_previous_winner)
#pragma once

#include "ensemble/architecture.hpp"

#include <troupe/search/strategy.hpp>

namespace troupe {

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
