// The chief: a job's bookkeeper and the only one who decides. It computes nothing and answers within milliseconds.
//
//   starting ──restored──► restoring ──hooks ready──► training ──end marked──► draining ──all saved, evaluated──► ending
//      │                       │                          │                        │                                │
//      └───────────────────────┴──────── failure ─────────┴────────────────────────┴──────► ending ──all gone──► finished
//                                                                                                                  failed
//   starting:   the crew is up, the checkpoint writer loads the newest checkpoint into the parameter store
//   restoring:  hooks say what they need
//   training:   the horizon is extended ahead of the reports; marks are placed; commits, evaluations, gates are followed
//   draining:   the end is fixed and marked; nothing is granted past it; the last save and evaluation are awaited
//               after a failure: a last save where the model is well (failing::saving), or what was under way (::settling)
//   ending:     hooks see the end, the crew is sent home, and its downs are counted
#pragma once

#include "actors/chief/deadlines.hpp"
#include "actors/chief/fact_window.hpp"
#include "actors/chief/failures.hpp"
#include "actors/chief/pace.hpp"
#include "actors/chief/phase.hpp"
#include "actors/crew.hpp"
#include "actors/inquiry.hpp"
#include "actors/job_board.hpp"
#include "actors/wait_timer.hpp"

#include <set>

namespace troupe {

struct chief_options {
  node_id id{};
  std::string name = "chief";
  std::shared_ptr<crew> nodes;
  std::shared_ptr<job_board> board;
  std::optional<int64_t> max_steps;             ///< Absolute.
  std::optional<int64_t> steps;                 ///< Relative to the step found; with both, the earlier end wins.
  bool checkpoints = true;
  std::optional<int64_t> save_steps;
  std::optional<double> save_secs;
  bool stops_at_infeeds = false;                ///< Several groups end where their data are cut off, and not where each of them stands.
  int64_t summary_steps = 100;                  ///< Between two records, where the plan has a summary writer.
  double throttle_secs = 600;
  evaluation_mode when = evaluation_mode::waits;
  bool evaluator_may_fail = false;              ///< Policy go_on: training goes on without evaluations.
  chief_deadlines deadlines;
};

struct chief_state {
  static inline const char* name = "chief";
  chief_actor::stateful_pointer<chief_state> self = nullptr;
  chief_options options;
  using phase = chief_phase;
  phase now = phase::starting;

  // -- the crew ---------------------------------------------------------------------------
  roster nodes;
  bool writer_replaced = false;

  // -- the books --------------------------------------------------------------------------
  int32_t attempt = 1;
  int64_t first_step = 0;                       ///< Where the job first started; kept over restarts.
  int64_t start_step = 0;                       ///< Where this run of it started.
  int64_t reached = 0;                          ///< Reports below this step are in.
  int64_t until = 0;                            ///< The horizon.
  std::optional<int64_t> end_at;                ///< Where it ends, as far as known.
  bool end_is_final = false;                    ///< max_steps or the end of the data, not a request to stop.
  int64_t block_steps = 1;
  pace speed;
  double loss = 0;                              ///< Mean since the report before.
  std::map<std::string, double> losses_of_groups;  ///< Of a job of several: the others' means since the report before.
  double last_loss = 0;                         ///< Of the last step alone: no matter how reports are cut.
  caf::actor_clock::time_point started{};
  std::vector<std::string> restore_warnings;
  bool data_anew = false;                       ///< The job had finished: its data begin from the beginning.

  // -- saves, gates, evaluations ------------------------------------------------------------
  std::set<int64_t> saving;                     ///< Snapshot marks placed and not yet committed or failed.
  std::set<int64_t> given_up;                   ///< Those that failed: they are not asked for again.
  std::set<int64_t> unbooked;                   ///< Those of them whose books wait for the reports below.
  std::optional<int64_t> committed_at;
  std::map<int64_t, committed> held;            ///< Commits whose reports are not in yet.
  std::optional<int64_t> skipped_for;           ///< The save on its way for which a skipped one was reported.
  bool save_again = false;                      ///< A save was asked for while one was on its way.
  std::set<int64_t> commit_gates;               ///< Nothing runs past these until their commit is dealt with.
  std::set<int64_t> hook_gates;                 ///< … until the hooks have answered.
  std::vector<need> needs;
  fact_window facts;                            ///< How far the hooks are behind.
  std::set<int64_t> gates_told;                 ///< Those of `hook_gates` that the hooks have been asked.
  std::optional<job_event> held_progress;       ///< Told when the hooks have caught up, joined with what came after it.
  int64_t progress_told = 0;                    ///< The state of the last progress event.
  std::optional<int64_t> evaluating;
  std::optional<int64_t> evaluated_at;
  std::optional<int64_t> newest_unevaluated;    ///< beside: what to evaluate next.
  std::optional<caf::actor_clock::time_point> evaluation_began;
  int64_t eval_records = 0;                     ///< Told to the writer of evaluations.
  int64_t eval_room = record_window;  ///< It has room for those below.
  std::map<std::string, double> metrics;
  std::string checkpoint;

  // -- the end ------------------------------------------------------------------------------
  failure_log causes;
  enum class failing : uint8_t {
    no,
    saving,    ///< The model is well: its state at the horizon is saved, then the job ends.
    settling,  ///< Nothing more can be computed: what the checkpoint writer can still complete is awaited.
  } failing = failing::no;
  std::optional<error> announced;                ///< An infeed's failure at a step that has not been reached.
  std::map<node_id, int64_t> lanes;             ///< Without an outfeed: what each replica has reported.
  bool stopping = false, by_signal = false, cancelled_evaluation = false;
  bool cut = false;                             ///< Replicas were told to end where they stand.
  bool stream_ended = false;
  bool flushing = false;                        ///< What the outfeed holds is awaited.
  bool overdue = false;                         ///< The checkpoint writer was asked which part a save lacks.
  bool sent_home = false, hooks_done = false;
  std::string remark;

  // -- waits: one of each kind at a time -----------------------------------------------------
  enum wait : int32_t {
    wait_start, wait_silence, wait_save, wait_hooks, wait_stop, wait_next_save, wait_flush, wait_evaluation, wait_eval_room, wait_news, wait_cut,
    wait_answers, wait_kinds
  };
  wait_timer<chief_actor::stateful_pointer<chief_state>> waiting;
  inquiry whereabouts;                          ///< After a silence.
  uint64_t flushes = 0;

  // chief.cpp: phases
  void start_crew();
  void on_restored(const restored& x);
  void begin_training();
  void on_request(const request& x);
  void on_deadline(const deadline& x);
  error waited_for(int32_t kind, std::string source) const;
  void arm(wait w, std::chrono::milliseconds patience, std::string what);
  void disarm(wait w) { waiting.disarm(w); }
  std::chrono::nanoseconds now_ns() const;
  double seconds() const;
  double steps_per_second() const;
  bool ends() const { return now >= phase::ending; }
  bool trains() const { return now == phase::training || now == phase::draining; }
  /// None where the plan has none, or once it has ended.
  checkpoint_writer_actor writer() const { return nodes.the<role::checkpoint_writer>(); }
  outfeed_actor outfeed() const { return nodes.the<role::outfeed>(); }
  summary_writer_actor summaries() const { return nodes.the<role::summary_writer>(); }
  summary_writer_actor eval_summaries() const { return nodes.the<role::eval_summary_writer>(); }
  evaluator_actor evaluator() const { return nodes.the<role::evaluator>(); }
  callbacks_actor callbacks() const { return nodes.the<role::callbacks>(); }
  template <role R, class M>
  void tell_all(const M& message) {
    for (const auto& node : nodes.all<R>())
      self->send(node, message);
  }
  std::chrono::milliseconds save_period() const;
  void publish(job_event e);
  void tell(fact f, std::optional<int64_t> watch = {});
  void tell_progress();
  void wait_for_hooks(bool anew);
  void show_status();
  std::optional<int64_t> goal() const;

  // chief_training.cpp: horizon, marks, reports, hooks, the end in sight
  void on_progress(const progress& x);
  void on_lane(const step_report& x);
  void on_reached();
  void ask_around();
  void fail_of_silence();
  void await_reports();
  void on_stream_end(const stream_end& x);
  void on_answered(const answered& x);
  int64_t limit() const;
  bool far_ahead(int64_t step) const;
  void extend();
  void grant(int64_t new_until, std::vector<mark> marks);
  uint8_t marks_at(int64_t step);
  void mark_here(uint8_t kinds);
  bool watched(int64_t step) const;
  void drain(int64_t at, bool final);
  void cut_short();
  void check_end();

  // chief_saves.cpp: saves, and evaluations of what was saved
  void place_save(int64_t step);
  void send_books(int64_t step);
  void send_books_up_to(int64_t step);
  void await_saves();
  void on_committed(const committed& x);
  void publish_held();
  void deal_with(const committed& x);
  /// Whether there is nothing to ask for: it is committed, or never will be.
  bool is_settled(int64_t step) const { return committed_at == step || held.contains(step) || given_up.contains(step); }
  void on_save_failed(const save_failed& x);
  void evaluate_next();
  void on_evaluated(const evaluated& x);
  void record_evaluation(const evaluated& x);
  void on_eval_room(const room& x);

  // chief_ending.cpp: failures, downs, the last waits
  void on_failure(const failure& x);
  void on_input_failed(const input_failed& x);
  void on_input_warned(const input_warned& x);
  void on_down(const caf::down_msg& x);
  void on_flushed(const flushed& x);
  void flush_outfeed();
  void respond(role who, trouble what, error cause);
  void lose_evaluator(error cause);
  void fail_now(error cause);
  void fail_after_save(error cause);
  void flush_then_settle(error cause);
  void replace_writer(error cause);
  void give_up_saves();
  void settle_saves();
  void end();
  void send_home();
  void check_gone();
  std::map<std::string, double> training_metrics() const;
  void finish();
};

chief_actor::behavior_type chief(chief_actor::stateful_pointer<chief_state> self, chief_options options);

}  // namespace troupe
