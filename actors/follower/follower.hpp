// The follower: the driver of a process that evaluates the checkpoints of a job in another process, and judges them. It
// also is all that a process does which only waits for the end of such a job.
//
//   checkpoint_watcher ── commit_seen ──► follower ── evaluate_at, export_at ──► evaluator ── evaluated, exported ──┐
//                                          │    ▲ (apply_rule)                                      (rule_applied)  │
//                        judged.json ◄─────┤    └───────────────────────────────────────────────────────────────────┘
//                                          └── record ──► summary_writer (once the exporters are through)
//
//   starting ──nodes started──► following ──the job has ended, all evaluated──► exporting ──► adopting ──► closing
//                                   └──────────────────────── stop ────────────────────────────────────────►┘
//   adopting: the chief has ended without the last verdict, which is entered once nobody owns the directory
//
// It has a thread: it locks the directories of its evaluations, writes judged.json, and calls listeners. Predicates are
// asked on the threads of the evaluators.
#pragma once

#include "actors/agents.hpp"
#include "actors/chief/deadlines.hpp"
#include "actors/chief/evaluation_schedule.hpp"
#include "actors/chief/evaluations.hpp"
#include "actors/chief/judgements.hpp"
#include "actors/chief/results.hpp"
#include "actors/job_board.hpp"
#include "actors/node_reports.hpp"
#include "actors/wait_timer.hpp"
#include "storage/checkpoints/judged.hpp"
#include "storage/files/file_system.hpp"

namespace troupe {

struct followed_evaluation {
  evaluation_settings settings;
  std::string folder;                             ///< Of its event file, below the model directory.
  std::shared_ptr<evaluation_listener> listener;  ///< May be null.
};

struct follower_options {
  driven_nodes nodes;
  std::shared_ptr<job_board> board;
  std::shared_ptr<file_system> files;
  std::string directory;
  std::vector<followed_evaluation> evaluations = {};  ///< In the order of the plan's evaluators.
  judgement_settings judged = {};
  std::optional<int64_t> max_steps = {};  ///< Of the job that is followed.
  bool ends_by_epochs = false;            ///< Its goal is not known here: once it has finished, it has reached it.
  std::chrono::milliseconds first_commit_within{7'200'000};
  std::chrono::milliseconds chief_within{600'000};
  chief_deadlines deadlines;
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Hear events; no pointer is null.
};

enum class follower_wait : int32_t {
  start,         ///< Until the agent has started the nodes.
  first_commit,  ///< Until the directory has a checkpoint, also after all of them have gone.
  chief,         ///< Until somebody owns the directory again, or it can be read again.
  news,          ///< Until the checkpoint watcher says again what it sees.
  room,          ///< Until a summary writer has room for the records of the next evaluation.
  reminder,      ///< Until a warning says that nothing new has come.
  due,           ///< Until the throttle of an evaluation admits the next one, or the directory may have no owner.
  stop,          ///< Until event files are closed.
  report,        ///< Until the nodes have said what they have done with their time.
  evaluations,   ///< From here on: for each evaluation, until the evaluator has answered.
};

struct follower_state {
  static inline const char* name = "follower";
  /// How often a warning says that there is nothing to evaluate.
  static constexpr std::chrono::seconds reminder_every{600};
  enum class phase : uint8_t { starting, following, exporting, adopting, closing, ended };

  /// An evaluation, and what is remembered between its messages.
  struct followed {
    evaluation_schedule schedule;
    std::optional<evaluated> unrecorded = {};  ///< Its result, while a predicate or the exporters run.
    struct question {
      uint64_t number = 0;
      troupe::judgements::question what;
    };
    std::optional<question> asked = {};    ///< The predicate that the evaluator applies to the result.
    std::unique_ptr<file_hold> hold = {};  ///< On the checkpoint, from before its evaluation to its record.
    int failures = 0;                      ///< How often in a row its exporters have failed.
    bool has_evaluated = false;            ///< In this process.
    bool lost = false;
    /// What the event file says before this process, so that nothing is evaluated again.
    bool is_done_with(checkpoint_id id) const { return schedule.last() == id; }
  };

  follower_actor::stateful_pointer<follower_state> self = nullptr;
  follower_options options;
  phase now = phase::starting;
  troupe::agents agents;
  roster nodes;
  std::vector<followed> evaluations;
  troupe::judgements judgements;
  job_results results;
  std::vector<std::unique_ptr<directory_lock>> locks;  ///< Of the folders of the evaluations.
  std::optional<commit_seen> seen;                     ///< What the directory said last of its checkpoints.
  judged written;                                      ///< What judged.json says.
  /// Keep checkpoints that judged.json names until the job's own books say the same.
  std::unique_ptr<file_hold> best_hold, end_hold;
  int64_t superseded = 0;
  uint64_t questions = 0;              ///< How many predicates were asked.
  std::optional<size_t> without_room;  ///< An evaluation whose summary writer has no room.
  inquiry reporting{0};                ///< For a report to the user.
  activity spent;                      ///< See counted.hpp.
  bool stopped = false, failed = false;
  std::string stopped_by;  ///< Which listener; empty: the user.
  std::string unreadable;  ///< Why the directory cannot be read now; empty: it can.
  std::set<std::string> warnings;
  wait_timer<follower_actor::stateful_pointer<follower_state>, follower_wait> waiting;
  caf::actor_clock::time_point began{};

  // follower.cpp
  void start();
  expected<void> lock_folders();
  void on_started(const started& x);
  void on_commit_seen(const commit_seen& x);
  void on_request(const request& x);
  void on_standing(const standing& x);
  void on_deadline(const deadline& x);
  void on_down(const caf::down_msg& x);
  void lose_sight();
  void lose(size_t which, error cause);
  void begin_at(const commit_seen& x);
  void offer(checkpoint_id id);
  void advance();
  void remind();
  std::chrono::nanoseconds now_ns() const;
  double seconds() const { return std::chrono::duration<double>(now_ns()).count(); }
  static follower_wait wait_of(size_t which) {
    return static_cast<follower_wait>(static_cast<int32_t>(follower_wait::evaluations) + static_cast<int32_t>(which));
  }
  evaluator_actor evaluator(size_t which) const { return nodes.nth<role::evaluator>(which); }
  const evaluation_settings& settings(size_t which) const { return options.evaluations[which].settings; }
  std::string prefix_of(checkpoint_id id) const;
  void publish(job_event e);
  void warn(const std::string& text);
  void show_status();
  void ask_for_report();
  void show_report();

  // follower_evaluations.cpp
  bool evaluate_next(size_t which);
  bool hold(size_t which, checkpoint_id id);
  bool has_gone(checkpoint_id id) const;
  void wait_for_due();
  void on_evaluated(const evaluated& x);
  void on_exported(const exported& x);
  void on_record_credit(const record_credit& x);
  void judge(size_t which, checkpoint_id id, const evaluated& x);
  void follow(size_t which, const expected<troupe::judgements::ruling>& found);
  void on_rule_applied(const rule_applied& x);
  expected<void> keep_verdict(checkpoint_id id, bool is_best, bool ends);
  void export_at(size_t which, checkpoint_id id, bool is_final);
  void conclude(size_t which, const evaluated& x);
  void try_again(size_t which, checkpoint_id id, error cause);
  void leave_out(size_t which, checkpoint_id id, error cause);
  void fail_by_policy(size_t which, error cause);
  bool listener_goes_on(size_t which, const char* call, const std::function<bool(evaluation_listener&)>& asks);

  // follower_ending.cpp
  bool job_has_ended() const;
  bool all_done() const;
  bool any_at_work() const;
  void end_when_done();
  void export_last();
  void stop(std::string by);
  bool lacks_best() const;
  void adopt();
  expected<void> adopt_best();
  void close();
  void finish(expected<train_result> result);
  void fail_with(error cause) { finish(troupe::fail(std::move(cause))); }
  train_result result() const;
};

follower_actor::behavior_type follower(follower_actor::stateful_pointer<follower_state> self, follower_options options);

}  // namespace troupe
