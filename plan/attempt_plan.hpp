// The plan of an attempt, with what its chief has to know of the models in it. Plain data.
#pragma once

#include "plan/checked_plan.hpp"
#include "words/stored_plan.hpp"

#include <memory>

namespace troupe {

struct attempt_plan {
  std::shared_ptr<const checked_plan> plan;
  stored_plan stored;                                       ///< What its checkpoints are made of.
  std::vector<std::vector<group_id>> evaluated_groups = {}; ///< Those whose variables an evaluation loads, in the order of the job's evaluations.
  std::vector<std::string> outputs = {}, observed = {};     ///< The names of the values that hooks are shown.
};

}  // namespace troupe
