// The board of a job: shows its state to threads outside. Written by the chief, read by any thread.
#pragma once

#include <troupe/job.hpp>

namespace troupe {

/// What the caller of a session asks for next. Text and flags are those of the message `run_until`.
struct session_call {
  enum class kind : uint8_t { steps, save, renew, begun_anew };
  kind what = kind::steps;
  int64_t count = 1;
  bool values = false, observed = false;  ///< Fetches outputs of the last step, and observed values.
  bool tells_hooks = true;
  bool repeats = true, first = false;
  error cause = {};
};

/// What has become of it.
struct run_end {
  uint64_t number = 0;     ///< Of the call; 0: the session is ready for the first one.
  int64_t begins = 0;      ///< Where its steps began, in the end.
  int64_t step = 0;        ///< Where the job stands.
  int64_t taken_back = 0;  ///< By how many steps recoveries since the last end have put the job back before a run.
  int64_t recoveries = 0;  ///< Since the last end.
  std::map<std::string, tensor> values = {};  ///< Of the last step; empty if it was not fetched.
  std::string checkpoint = {};                ///< save: the prefix.
  bool stops = false;                         ///< No further run is possible: the job ends, or has been asked to.
  std::optional<error> failure = {};          ///< Why the run has failed although the job has not.
  /// Not the end: the job recovers from a failure of work beside it, and waits until the caller says that it has begun
  /// that anew (`begun_anew`). The end of the call follows.
  bool preempted = false;
};

/// The answer to a request for variables of a session.
struct reading {
  uint64_t number = 0;  ///< Of the request.
  int64_t step = 0;     ///< The state that they are of.
  std::map<std::string, tensor> values = {};
  std::optional<error> failure = {};  ///< Why there are none.
};

/// Implementations hold a lock no longer than a copy takes.
class job_board {
 public:
  virtual ~job_board() = default;
  virtual void status(const job_progress& now) = 0;
  virtual void event(const job_event& what) = 0;
  virtual void report(const job_report& now) = 0;  ///< The answer to a request for it.
  virtual void run_ended(run_end x) = 0;  ///< Of a session. What an end says is complete: no call follows before it.
  virtual void variables(reading x) = 0;  ///< Of a session.
  /// The last call. Every actor of the job except the chief has ended; an error has notes with the names of those that
  /// did not.
  virtual void finished(expected<train_result> result) = 0;
};

}  // namespace troupe
