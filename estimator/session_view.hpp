// What the handle of a session and the loops beside it see of its job. Loops that are left behind keep the view, and
// not the job.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "words/run_port.hpp"

#include <troupe/session.hpp>

#include <atomic>
#include <mutex>

namespace troupe {

/// Any thread may make any call.
class session_view {
 public:
  session_view(std::shared_ptr<running_job> job, std::shared_ptr<run_port> port, bool records)
    : port_(std::move(port)), records_(records), job_(std::move(job)) {}

  /// Lets go of the job: later calls are of a closed session.
  void close();
  job_progress progress() const;  ///< At last, that at the end.
  /// Whether the loops beside the runs are to end: they wait for nothing any more.
  void end_loops(bool now);
  void ended(const run_result& x);
  run_result last_run() const;
  /// `for_loop`: the caller is a loop. Error `state`: the job has ended, the session is closed, or its loops end.
  expected<variable_values> variables(const std::vector<std::string>& names, std::chrono::milliseconds patience,
                                      bool for_loop) const;
  expected<void> summarise(const std::map<std::string, double>& values, std::optional<int64_t> step) const;

 private:
  std::shared_ptr<running_job> job() const;

  std::shared_ptr<run_port> port_;
  bool records_;
  std::atomic<bool> loops_end_ = false;
  mutable std::mutex guard_;          ///< Of what follows.
  std::shared_ptr<running_job> job_;  ///< Null: the session is closed.
  job_progress at_the_end_;
  run_result last_run_;
};

/// The error of calls of a session that was closed.
error closed_session();

}  // namespace troupe
