// Generators: which builders each iteration of a search has. generators.hpp has ready-made ones.
// Not needed to begin with.
#pragma once

#include <troupe/search/builder.hpp>

namespace troupe {

/// What a generator decides by.
struct generator_input {
  int64_t iteration = 0;
  std::optional<architecture> previous = {};  ///< The winner of the iteration before; absent in iteration 0.
  generator_reports reports = {};
};

/// Returns the builders of an iteration, at least one. It must return the same for the same input, because it is called
/// again for past iterations. Any thread may call it. An exception is an error of the search (state).
using generator = std::function<std::vector<builder>(const generator_input& in)>;

}  // namespace troupe
