// How a session begins: its first values, and what makes it a session in a training job.
#pragma once

#include "estimator/commit_follower.hpp"
#include "pipeline/launch/launcher.hpp"
#include "words/run_port.hpp"

#include <troupe/session.hpp>

namespace troupe {

/// What a supervisor adds to a session.
struct session_services {
  bool notes_end = false;
  bool recovers = true;                    ///< Work beside the runs that is preempted is a recovery.
  std::optional<coordinator> beside = {};  ///< Of that work, in place of the session's own.
};

/// Whether a job that recovers makes this failure of work beside it good.
bool can_be_cured(const error& e);
/// The cause of a recovery for that.
error preemption_by(error cause);

/// Makes a session of a described training: hooks, the run port, where the first values come from. Errors:
/// invalid_argument naming the option.
expected<void> make_session(training_job& job, const session_options& options, const session_services& services = {});

/// Beside a chief: waits for a checkpoint in the directory, looking at once, then every `recovery_wait_secs`, and last
/// when `max_wait_secs` have passed. deadline_exceeded naming the directory; errors of reading it.
expected<void> wait_for_checkpoint(const std::shared_ptr<file_system>& files, const std::string& directory,
                                   const session_options& options, follower_time& time);

/// Opens a session. `time` is for waiting for a checkpoint.
expected<session> open_by(launcher& by, expected<training_job> settled, const session_options& options,
                          std::shared_ptr<follower_time> time = system_time(), session_services services = {});

}  // namespace troupe
