// Supervisors: sessions with services by time, and a scope that ends all of it. TensorFlow's older way to a session
// (session.hpp), which leaves recovery to its caller.
// Not needed to begin with.
//
//   tr::supervisor sv{estimator, {.input = train}, {.save_model_secs = 60}};
//   auto result = sv.managed_session([&](tr::session& session) -> tr::expected<void> {
//     while (!sv.should_stop())
//       if (auto run = session.run(); !run)
//         return tr::fail(run.error());
//     return {};
//   });
#pragma once

#include <troupe/session.hpp>

namespace troupe {

struct supervisor_options {
  bool is_chief = true;  ///< False: see `session_options::is_chief`. Only a chief has services.
  std::function<expected<void>(parameter_access&)> init_fn = {};                ///< As in `session_options`.
  std::function<std::vector<std::string>(const parameter_access&)> ready = {};  ///< As in `session_options`.
  /// Seconds between two records of summaries and of the rate: the first of the first step, and each of the next step
  /// that is granted. 0: none. Absent: 120. Seconds between two checkpoints. 0: none at all. Absent: 600. `state` where
  /// given and not 0 beside the chief.
  std::optional<double> save_summaries_secs = {}, save_model_secs = {};
  double recovery_wait_secs = 30;    ///< As in `session_options`.
  double max_wait_secs = 7200;       ///< As in `session_options`.
  double stop_grace_secs = 120;      ///< How long the scope waits for threads beside the session.
  bool ignore_live_threads = false;  ///< Threads that have not ended then are no error, but a line of `log`.
  std::function<void(const std::string& line)> log = {};  ///< Empty: standard error.
  std::shared_ptr<coordinator_clock> clock = {};          ///< Of loops and of that wait; null: the steady clock.
};

/// Any thread may make any call, and `managed_session` one at a time.
class TROUPE_API supervisor {
 public:
  /// Of `e.config`, the model_dir counts, and not when it saves and records: services do. Without a model_dir there is
  /// no service, and a line of `log` says so.
  supervisor(estimator e, train_spec training, supervisor_options options = {});
  ~supervisor();

  /// Opens a session, calls `body`, ends the threads beside it, saves the last state, closes the session and returns
  /// its result. The event file ends with a note of that. The job does not recover: its error, `aborted` for one,
  /// leaves the scope, and the caller may begin another one. Errors: those of `session::open`; the first of `body` and
  /// of the work beside, unless it is out_of_range, which is an end; state naming threads that have not ended in time;
  /// the job's.
  expected<train_result> managed_session(const std::function<expected<void>(session&)>& body);

  bool should_stop();
  void request_stop(std::optional<error> cause = {});
  bool wait_for_stop(std::chrono::milliseconds patience);
  /// Within `managed_session`: as `session::loop`.
  void loop(const std::string& name, std::optional<std::chrono::milliseconds> every,
            std::function<expected<void>(const loop_context& now)> f);
  /// Within `managed_session`: writes values that the program has computed, of `step` or of where the job stands.
  /// state: there is no event file.
  expected<void> summary_computed(const std::map<std::string, double>& values, std::optional<int64_t> step = {});
  coordinator& threads();  ///< Threads of the program enlist here; out_of_range is clean.

  struct impl;

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
