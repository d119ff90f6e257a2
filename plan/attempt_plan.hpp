// The plan of an attempt, with what its chief needs to know of the models. Plain data.
#pragma once

#include "plan/checked_plan.hpp"
#include "plan/group_hooks.hpp"
#include "words/stored_plan.hpp"

#include <memory>

namespace troupe {

struct attempt_plan {
  std::shared_ptr<const checked_plan> plan;
  stored_plan stored;                                        ///< What its checkpoints consist of.
  std::vector<std::vector<group_id>> evaluated_groups = {};  ///< For each evaluation: groups whose variables it loads.
  std::vector<std::string> outputs = {}, observed = {};      ///< The names of the values that hooks see.
  std::map<std::string, std::string> blobs = {};             ///< Of the books with which the plan begins.
  std::vector<std::string> remarks = {};                     ///< For the log of a search that grows.
  std::shared_ptr<const group_hooks> hooks = {};             ///< Null: no group has any.
};

}  // namespace troupe
