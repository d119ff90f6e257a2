// Hooks that belong to groups of a plan, and live as long as it.
#pragma once

#include "words/roles.hpp"

#include <troupe/hook.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A hook of a group. It counts the group's own steps, from the state at which the group begins, and sees its values
/// without its name.
struct group_hook {
  std::shared_ptr<hook> who = {};  ///< Not null.
  group_id group{};
  std::string name = {};  ///< Of the group.
  int64_t begins_at = 0;  ///< See plan_group.
};
/// Of all groups of a plan, in the order of the calls.
using group_hooks = std::vector<group_hook>;

}  // namespace troupe
