// The board of a job: shows its state to threads outside. Written by the chief, read by any thread.
#pragma once

#include <troupe/job.hpp>

namespace troupe {

/// Implementations lock for no longer than a copy takes.
class job_board {
 public:
  virtual ~job_board() = default;
  virtual void status(const job_progress& now) = 0;
  virtual void event(const job_event& what) = 0;
  /// The last call: every actor of the job except the chief has ended, or its name is in the error's notes.
  virtual void finished(expected<train_result> result) = 0;
};

}  // namespace troupe
