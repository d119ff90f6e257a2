// The records of an evaluation for its event file.
#pragma once

#include "messages/evaluation.hpp"
#include "messages/summary.hpp"

namespace troupe {

/// Two records: the metrics without global_step, and the path of the checkpoint, if there is one.
std::vector<record> evaluation_records(const evaluated& x);

}  // namespace troupe
