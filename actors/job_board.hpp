// The board of a job: shows its state to threads outside. Written by the chief, read by any thread.
#pragma once

#include <troupe/job.hpp>

namespace troupe {

/// Implementations hold a lock no longer than a copy takes.
class job_board {
 public:
  virtual ~job_board() = default;
  virtual void status(const job_progress& now) = 0;
  virtual void event(const job_event& what) = 0;
  virtual void report(const job_report& now) = 0;  ///< The answer to a request for it.
  /// The last call. Every actor of the job except the chief has ended; an error has notes with the names of those that
  /// did not.
  virtual void finished(expected<train_result> result) = 0;
};

}  // namespace troupe
