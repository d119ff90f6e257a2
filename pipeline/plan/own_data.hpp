// The data of builders of their own (bagging), which have to go with those of the search.
#pragma once

#include "ensemble/iteration_basis.hpp"

namespace troupe {

/// What a batch is made of.
struct batch_form {
  element_spec element;
  int64_t rows = 1;
};

/// Enters how many batches the own data of each builder of the open iteration have, where they end. Errors:
/// invalid_argument naming the builder for data without a batch, for components other than those of `search`, the data
/// of the search, and for batches of other sizes; those of the dataset.
expected<void> enter_own_data(const iteration_basis& basis, const batch_form& search, uint64_t seed,
                              iteration_specs& specs);

}  // namespace troupe
