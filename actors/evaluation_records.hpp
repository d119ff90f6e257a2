// What the event file of an evaluation records of it.
#pragma once

#include "messages/evaluation.hpp"
#include "messages/summary.hpp"

namespace troupe {

/// Its metrics without global_step, and the path of its checkpoint, if there is one.
std::vector<record> evaluation_records(const evaluated& x);

}  // namespace troupe
