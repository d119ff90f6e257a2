// The records of an evaluation for its event file.
#pragma once

#include "messages/evaluation.hpp"
#include "messages/summary.hpp"

namespace troupe {

/// What one evaluation finds out about a part of its model.
struct evaluated_part {
  std::string name;               ///< Metrics and arrays whose names begin with "<name>/" are of this part.
  std::string directory;          ///< Of the event file that has them under their plain names.
  std::string architecture = {};  ///< Of an ensemble, see `ensembles_text`.
};

/// Two records: the metrics without global_step, each in the event file of its part or of the job, and the path of the
/// checkpoint, if there is one. `architecture`: of the ensemble whose metrics are those of the job; may be empty.
std::vector<record> evaluation_records(const evaluated& x, const std::vector<evaluated_part>& parts = {},
                                       const std::string& architecture = {});

}  // namespace troupe
