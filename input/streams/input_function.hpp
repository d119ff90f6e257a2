// Input functions as stages, and what their datasets are at one place.
#pragma once

#include <troupe/dataset_iterator.hpp>
#include <troupe/input_function.hpp>

namespace troupe {

/// The options of an input function; null for any other dataset.
const input_function_options* input_function_of(const dataset& input);
/// The dataset that an input function returns for `c`; any other dataset is returned as it is. One of several inputs
/// reads it whole, whatever share the options name. Its positions are refused where the context is another one. Errors:
/// those of `from_input_function`, and of the function; on opening it, batches of another size than the context's.
expected<dataset> deployed(const dataset& input, const input_context& c);

}  // namespace troupe
