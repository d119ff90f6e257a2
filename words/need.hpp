// The next state for which a hook has a need.
#pragma once

#include <troupe/hook.hpp>

namespace troupe {

/// The first state after `after` that `n` names; INT64_MAX if there is none.
int64_t next_need(int64_t after, const need& n);

}  // namespace troupe
