// The graph of the group of a new subnetwork: on the data of the search, or on data of its own beside them.
#pragma once

#include "ensemble/iteration_basis.hpp"

namespace troupe {

/// A batch of a builder's own data; without features if it has none.
struct own_batch {
  troupe::features features;
  troupe::labels labels;
};

struct built_subnetwork {
  model_spec spec = {};     ///< What it minimises.
  subnetwork shown = {};    ///< What ensembles read, on the data of the search.
  symbol search_loss = {};  ///< The head's loss of `shown`, where what it minimises is on other data.
};
/// Builds the subnetwork in the scope, with the data of the search in `c`. One with data of its own is built twice with
/// the same variables: to train on these, and to predict on those of the search. Errors of the graph: those of
/// `build_member`; of a builder with data of its own invalid_argument if it does not train, or makes other variables to
/// predict, and unimplemented if it reads outputs of the previous ensemble on them.
built_subnetwork build_subnetwork(const search_options& o, graph& g, const builder& b, const std::string& scope,
                                  const build_context& c, const own_batch& own);

/// The data of a group of the open iteration: `data` are those of the search.
element_spec data_of_group(const iteration_basis& basis, const std::string& builder, element_spec data);

}  // namespace troupe
