// How the first state of an iteration of a search follows from the last state of the iteration before.
#pragma once

#include "ensemble/graphs/models.hpp"
#include "words/stored_plan.hpp"

#include <troupe/dataset.hpp>

namespace troupe {

struct planned_growth {
  stored_growth stored = {};
  std::vector<std::string> remarks = {};  ///< For the log: what candidates do not inherit, and why.
};

/// Variables of the iteration are fresh, but for the mixture weights that candidates inherit. Members that the winner
/// has of the iteration before keep their variables, or the moving averages of these, with which they were evaluated.
/// Everything else is dropped. There must be an iteration before. Errors: those of the graphs.
expected<planned_growth> growth_of(const shared_basis& basis, const iteration_specs& specs, const element_spec& data);

}  // namespace troupe
