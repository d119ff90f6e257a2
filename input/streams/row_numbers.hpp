// A dataset that also says which row of the source each example is.
#pragma once

#include <troupe/dataset_iterator.hpp>

namespace troupe {

/// The dataset with one more feature of that name, int64 []: the source row of the example. Texts and positions are
/// those of `input`, whose iterators must have `source_rows`, and no component of that name.
dataset with_row_numbers(const dataset& input, const std::string& name);

}  // namespace troupe
