// The checks of a plan's groups: their names, what becomes of them, and the order in which they are shown.
#pragma once

#include "plan/checked_plan.hpp"

namespace troupe {

/// Needs the index of a plan whose nodes, edges and ports have passed their checks. Otherwise invalid_argument naming
/// the group.
expected<void> check_groups(const checked_plan& p);

}  // namespace troupe
