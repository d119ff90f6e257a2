// The chief: the only actor that decides for a job. It computes nothing and answers within milliseconds.
//
//   starting ──restored──► restoring ──hooks ready──► training ──end marked──► draining ──all saved, evaluated──► ending
//      │                       │                          │                        │                                │
//      └───────────────────────┴──────── failure ─────────┴────────────────────────┴──────► ending ──all gone──► finished
//                              ▲                                                  │                                failed
//                              └───restored─── recovering ◄──can be cured, halted─┘
//   starting:   the crew is up, the checkpoint writer sends the newest checkpoint to the owners of the parameter stores
//   restoring:  hooks begin and state their needs
//   training:   the horizon is extended ahead of the reports; marks are placed; commits, evaluations, gates are followed
//   draining:   the end is fixed and marked; nothing is granted past it; the last save and evaluation are awaited
//               after a failure: a last save of a healthy model (failing::saving), or pending saves (::settling)
//   recovering: after a failure that a new attempt can cure, once everyone is halted (in draining, failing::settling):
//               the delay of the budget, then dead nodes are started anew and the newest commit is restored; on to restoring
//   ending:     first (phase::closing) event files are closed, and hooks return from what they were told; then hooks see the end,
//               the crew is ended, and (phase::leaving) its downs are counted
//
// Its parts are plain data with decisions as functions, tested without an actor (docs/actors.md lists them). This actor turns messages into calls of
// the parts; `advance` turns what the parts decide into messages.
#pragma once

#include "actors/chief/attempt_books.hpp"
#include "actors/chief/chief_waits.hpp"
#include "actors/chief/deadlines.hpp"
#include "actors/chief/groups.hpp"
#include "actors/chief/hook_facts.hpp"
#include "actors/chief/judgements.hpp"
#include "actors/chief/learning_rates.hpp"
#include "actors/chief/listeners.hpp"
#include "actors/chief/origin.hpp"
#include "actors/chief/phase.hpp"
#include "actors/chief/recovery.hpp"
#include "actors/chief/results.hpp"
#include "actors/chief/rule_questions.hpp"
#include "actors/crew.hpp"
#include "actors/inquiry.hpp"
#include "actors/job_board.hpp"
#include "actors/wait_timer.hpp"

namespace troupe {

struct chief_options {
  node_id id{};
  std::string name = "chief";
  std::shared_ptr<crew> nodes;
  std::shared_ptr<job_board> board;
  std::optional<int64_t> max_steps;             ///< The absolute step of the end.
  std::optional<int64_t> steps;                 ///< Relative to the restored step; with both, the earlier end counts.
  bool checkpoints = true;
  int64_t iteration = 0;                        ///< The round of a search that its commits belong to; 0 outside of a search.
  std::optional<int64_t> save_steps;
  std::optional<double> save_secs;
  std::optional<checkpoint_id> planned_from = {};  ///< The checkpoint whose books were read to plan the job; absent: there was none.
  bool stops_at_infeeds = false;                ///< In a job of several groups: a stop goes to the infeed, and not to replicas.
  int64_t summary_steps = 100;                  ///< Steps between two records, if the plan has a summary writer.
  std::vector<evaluation_settings> evaluations = {};  ///< In the order of the plan's evaluators.
  judgement_settings judged = {};
  std::optional<double> max_secs = {};          ///< The job stops, and can go on, after training for so long.
  std::vector<group_policy> groups = {};        ///< What follows when one of them fails, and where it retires.
  recovery_options recovery = {};
  chief_deadlines deadlines;
};

/// The books of the job, and those of its attempt, which a new attempt replaces.
struct chief_state : attempt_books {
  static inline const char* name = "chief";
  chief_actor::stateful_pointer<chief_state> self = nullptr;
  chief_options options;
  using phase = chief_phase;
  phase now = phase::starting;

  // -- parts that outlive an attempt ----------------------------------------------------
  roster nodes;
  troupe::evaluations evaluations;
  troupe::judgements judgements;
  rule_questions questions;                     ///< Predicates of rules that evaluators are asked.
  troupe::gates gates;
  troupe::groups groups;                        ///< What has left is restored with each attempt.
  hook_facts facts;                             ///< What hooks are told, and how far they are behind.
  listeners listening;                          ///< Saving listeners.
  learning_rates rates;
  troupe::recovery recovery;
  inquiry whereabouts;                          ///< The inquiry after a silence.
  job_origin origin;
  told_facts told;
  job_results results;
  user_wishes wishes;
  wait_timer<chief_actor::stateful_pointer<chief_state>, chief_wait> waiting;

  // chief_advance.cpp: what follows from a message, once its handler has changed the parts
  /// Asks the parts in a fixed order what there is to do until there is nothing. False: there was nothing.
  bool advance();
  bool take_round();
  bool tell_idle_hooks();
  void set_waits();

  // chief.cpp: phases, facts and status
  void start_crew();
  void restore_state();
  void on_restored(const restored& x);
  bool begin_when_ready();
  void begin_training();
  void end_at_once();
  void arm(chief_wait w, std::chrono::milliseconds patience) { waiting.arm(w, patience); }
  void disarm(chief_wait w) { waiting.disarm(w); }
  std::chrono::nanoseconds now_ns() const;
  double seconds() const;
  double steps_per_second() const;
  bool ends() const { return now >= phase::closing; }
  bool has_ended() const { return now >= phase::finished; }
  bool trains() const { return now == phase::training || now == phase::draining; }
  /// These return a null handle if the plan has no such node, or if it has ended.
  checkpoint_writer_actor writer() const { return nodes.the<role::checkpoint_writer>(); }
  outfeed_actor outfeed() const { return nodes.the<role::outfeed>(); }
  summary_writer_actor summaries() const { return nodes.the<role::summary_writer>(); }
  summary_writer_actor eval_summaries(size_t which) const { return nodes.nth<role::eval_summary_writer>(which); }
  evaluator_actor evaluator(size_t which) const { return nodes.nth<role::evaluator>(which); }
  callbacks_actor callbacks() const { return nodes.the<role::callbacks>(); }
  template <role R, class M>
  void tell_all(const M& message) {
    for (const auto& node : nodes.all<R>())
      self->send(node, message);
  }
  /// Those of groups that have left excepted.
  template <class M>
  void tell_replicas(const M& message) {
    for (const auto& m : nodes.members())
      if (m.what == role::replica && m.handle && !groups.has_left(m.group))
        self->send(caf::actor_cast<replica_actor>(m.handle), message);
  }
  void warn(int64_t step, std::string text);
  /// Returns the number of the fact; 0: it was not told, or not at once.
  uint64_t publish(job_event e);
  /// Sends a fact to the callbacks and returns its number.
  uint64_t tell(fact f, std::optional<int64_t> watch = {});
  bool tell_progress();
  void show_status();
  std::optional<int64_t> goal() const;

  // chief_requests.cpp: requests of the user, and waits that are over
  void on_request(const request& x);
  void pause();
  void go_on();
  void scale_rates(double factor);
  void set_rate(int64_t step, double factor);
  void keep_rates(checkpoint_id id);
  void on_deadline(const deadline& x);
  void is_over(chief_wait w);
  std::string text_of(chief_wait w) const;
  error waited_for(chief_wait w, std::string source) const;
  std::chrono::milliseconds save_period() const;

  // chief_training.cpp: horizon, marks, reports, hooks, the end in sight
  void on_progress(const progress& x);
  void on_lane(const step_report& x);
  bool fail_as_announced();
  void ask_around();
  void fail_of_silence();
  void end_silence();
  void on_standing(const standing& x);
  void on_stream_end(const stream_end& x);
  void on_hooks_ready(const hooks_ready& x);
  void on_answered(const answered& x);
  void on_hooks_ended(const hooks_ended& x);
  void dealt_with(uint64_t number);
  bool evaluations_are_gates() const;
  bool commits_are_gates() const;
  bool extend();
  void grant_up_to(int64_t until, std::vector<mark> marks);
  void mark_here(uint8_t kinds);
  void drain(int64_t at, bool is_final);
  bool drain_further();

  // chief_saves.cpp
  void place_save(int64_t step);
  void pass_books(int64_t step);
  void send_books(int64_t step);
  bool books_can_wait() const;
  bool send_books_up_to(int64_t step);
  void on_committed(const committed& x);
  bool publish_commits();
  void deal_with(const committed& x, bool is_new);
  void offer(const committed& x, bool is_new);
  void stop_listening();
  void on_save_failed(const save_failed& x);

  // chief_evaluations.cpp: evaluations and exporters
  bool checks_evaluations() const;
  void check_evaluations(checkpoint_id id);
  void on_checked(size_t which, checkpoint_id id, const evaluated& x);
  void release(checkpoint_id id);
  void place_show(int64_t step);
  void send_shown();
  bool commits_come_up_to(int64_t step) const;
  void on_state_shown(const state_shown& x);
  bool evaluate_shown();
  bool evaluate_checkpoints();
  bool evaluate_next(size_t which);
  std::string prefix_of(checkpoint_id id) const;
  void on_evaluated(const evaluated& x);
  bool is_saved(size_t which) const;
  void conclude_evaluation(const evaluated& x, const troupe::judgements::ruling& ruling);
  std::map<std::string, double> metrics_of(size_t which, checkpoint_id id) const;
  void begin_export(size_t which, checkpoint_id id, bool is_final);
  bool exports_at_end() const;
  void export_last();
  void on_exported(const exported& x);
  void record_evaluation(size_t which, const evaluated& x);
  void on_record_credit(const record_credit& x);
  void lose_evaluator(size_t which);

  // chief_rules.cpp: rules that end the job, and what checkpoints are told of them
  expected<troupe::judgements::ruling> ask_predicates(expected<troupe::judgements::ruling> found, const std::optional<evaluated>& of);
  void on_rule_applied(const rule_applied& x);
  void end_early();
  bool ends_by_rule_at(int64_t step) const;
  void tell_verdict(checkpoint_id id);
  void on_late_properties_kept(const late_properties_kept& x);
  void recall_evaluations(checkpoint_id id);
  void judge_saved(size_t which, checkpoint_id id, const evaluation_values& found);
  void judge_saved(checkpoint_id id);

  // chief_groups.cpp: groups that leave or retire
  departed departed_of(group_id group) const;
  /// Takes the failure as the group's own, by its policy. False: it is the job's.
  bool lose_group(const stream_end& x);
  void tell_departed(group_id group);
  std::optional<group_id> group_to_drop() const;
  void begin_groups();
  std::string remark() const;   ///< Why the job ended, if otherwise than requested, and which groups have left.

  // chief_ending.cpp: failures, downs, what can still be saved
  void on_failure(const failure& x);
  void on_input_failed(const input_failed& x);
  void on_input_warned(const input_warned& x);
  void on_log_replaced(const log_replaced& x);
  void on_down(const caf::down_msg& x);
  void on_flushed(const flushed& x);
  void flush_outfeed();
  bool flushing() const { return waiting.armed(chief_wait::flush); }
  uint64_t number_of_flush() const;
  void flushed_or_not();
  /// `which`: its number among several of that role.
  void respond(role who, trouble what, error cause, size_t which = 0);
  void go_on_without_evaluator(size_t which, const error& cause);
  void fail_now(error cause);
  void fail_after_save(error cause);
  void flush_then_settle();
  void replace_writer(error cause);
  void give_up_saves();
  void settle_saves();
  void conclude();

  // chief_finish.cpp: the end, for those who hear of it, and the last waits
  void end();
  bool is_heard_at_the_end(role who, const caf::error& reason) const;
  bool tell_end_when_closed();
  void tell_end(bool to_hooks);
  void send_home();
  bool finish_when_gone();
  /// The metrics of the result: those of the first evaluation; without one, the last loss.
  std::map<std::string, double> last_metrics() const;
  void finish();

  // chief_recovery.cpp: from a failed attempt to the next one
  bool may_recover() const;
  void halt_all();
  void on_halted(const halted& x);
  void on_unhalted();
  void recover(error cause, std::chrono::milliseconds delay);
  void begin_attempt();
  bool begin_delayed_attempt();
  void restart(node_id id);
  troupe::horizon fresh_horizon() const;
};

chief_actor::behavior_type chief(chief_actor::stateful_pointer<chief_state> self, chief_options options);

}  // namespace troupe
