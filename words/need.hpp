// When a hook is next needed.
#pragma once

#include <troupe/hook.hpp>

namespace troupe {

/// The first state after `after` that a need names; INT64_MAX for none.
int64_t next_need(int64_t after, const need& n);

}  // namespace troupe
