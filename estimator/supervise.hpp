// Sessions under a supervisor, by any launcher.
#pragma once

#include "estimator/session_start.hpp"

#include <troupe/supervisor.hpp>

namespace troupe {

/// The scope of `supervisor::managed_session`. `shows` is called with the session while it is open, and with null
/// before it is closed.
expected<train_result> supervise(launcher& by, expected<training_job> settled, const supervisor_options& options,
                                 coordinator& together, const std::function<void(session*)>& shows,
                                 const std::function<expected<void>(session&)>& body,
                                 std::shared_ptr<follower_time> time = system_time());

}  // namespace troupe
