// A stage whose batches have components that the runs of a session bring.
#pragma once

#include "words/run_port.hpp"

namespace troupe {

/// The batches of `input`, with the rows that the run at hand brings for each of these components. Positions are those
/// of `input`. Errors when it is read: invalid_argument naming a component that `input` lacks; unimplemented: several
/// infeeds would divide what a run brings.
dataset with_fed_rows(const dataset& input, std::vector<std::string> names, std::shared_ptr<const run_port> port);

}  // namespace troupe
