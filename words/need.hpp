// The next state for which a hook has a need.
#pragma once

#include <troupe/hook.hpp>

namespace troupe {

/// The first state after `after` that `n` names; INT64_MAX if there is none.
int64_t next_need(int64_t after, const need& n);

/// The first step from `from` on with which a trace for `n` begins; INT64_MAX if there is none.
int64_t next_beginning(const trace_need& n, int64_t from);
/// Whether a trace for `n` begins with step `first`.
bool begins_at(const trace_need& n, int64_t first);

}  // namespace troupe
