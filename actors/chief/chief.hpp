// The chief: the only actor that decides for a job. It computes nothing and answers within milliseconds.
//
//   starting ──restored──► restoring ──hooks ready──► training ──end marked──► draining ──saved, evaluated──► ending
//      │                       │                          │                        │
//      └───────────────────────┴──────── failure ─────────┴────────────────────────┴───► ending ──all gone──► finished
//                              ▲                                                  │                           failed
//                              └───restored─── recovering ◄──can be cured, halted─┘
//   starting:   agents start the nodes; then the checkpoint writer sends the newest checkpoint to the owners of the
//               parameter stores
//   restoring:  hooks begin and state their needs
//   training:   the horizon is extended ahead of the reports; marks are placed; commits, evaluations, gates followed
//   growing, preparing: from the end of an iteration, once everything is saved and evaluated, to the restoration of the
//               next plan (chief_growth.cpp)
//   draining:   the end is known and marked; nothing is granted past it; the last save and evaluation are awaited.
//               After a failure: a last save of a healthy model (failing::saving), or pending saves (::settling)
//   recovering: after a failure that a new attempt can cure, once all nodes have halted (draining, failing::settling):
//               the back-off delay; then dead nodes are started anew and the newest commit is restored; on to restoring
//   ending:     first (phase::closing) event files are closed and hooks answer earlier facts; then hooks see the end,
//               the nodes are ended, and (phase::leaving) their `down` messages are awaited
//
// The chief's parts are plain data with decisions as functions, tested without an actor (docs/actors.md lists them).
// Handlers turn messages into calls of the parts; `advance` turns the parts' decisions into messages. Both are free
// functions by subject (chief_subjects.hpp).
#pragma once

#include "actors/agents.hpp"
#include "actors/chief/attempt_books.hpp"
#include "actors/chief/chief_waits.hpp"
#include "actors/chief/deadlines.hpp"
#include "actors/chief/groups.hpp"
#include "actors/chief/hook_facts.hpp"
#include "actors/chief/judgements.hpp"
#include "actors/chief/learning_rates.hpp"
#include "actors/chief/loops.hpp"
#include "actors/chief/next_attempt.hpp"
#include "actors/chief/origin.hpp"
#include "actors/chief/phase.hpp"
#include "actors/chief/results.hpp"
#include "actors/chief/rule_questions.hpp"
#include "actors/chief/searching.hpp"
#include "actors/chief/session_runs.hpp"
#include "actors/chief/traces.hpp"
#include "actors/connections.hpp"
#include "actors/hook_calls.hpp"
#include "actors/inquiry.hpp"
#include "actors/job_board.hpp"
#include "actors/wait_timer.hpp"

namespace troupe {

struct chief_options {
  node_id id{};
  std::string name = "chief";
  driven_nodes nodes;
  std::shared_ptr<job_board> board;
  std::optional<int64_t> max_steps;  ///< The absolute step at which the job ends.
  /// Relative to the restored step; with `max_steps`, the earlier end counts.
  std::optional<int64_t> steps;
  bool checkpoints = true;
  bool session = false;  ///< Its caller moves the job (session_runs.hpp).
  /// What work beside a session has failed with, if another attempt cures that. Asked when an attempt fails within a
  /// call. Empty: there is no such work.
  std::function<std::optional<error>()> preempted = {};
  std::optional<double> summary_secs = {};  ///< Seconds between two records, in place of `summary_steps`.
  bool copies = false;         ///< It saves nothing, and each attempt begins where the checkpoint writer finds a state.
  std::string directory = {};  ///< Of the checkpoints.
  stored_plan stored = {};     ///< What the job's checkpoints consist of.
  std::optional<int64_t> save_steps;
  std::optional<double> save_secs;
  loop_length loop = 100;
  int64_t rows = 0;             ///< Examples of a step; 0: not known.
  bool log_perplexity = false;  ///< Shows what the loss means as a perplexity.
  /// The checkpoint whose books were read to plan the job; absent: there was none.
  std::optional<checkpoint_id> planned_from = {};
  /// In a job of several groups: a stop goes to the infeeds instead of the replicas.
  bool stops_at_infeeds = false;
  int64_t summary_steps = 100;                        ///< Steps between two records, if the plan has a summary writer.
  std::vector<evaluation_settings> evaluations = {};  ///< In the order of the plan's evaluators.
  bool evaluates_first = false;  ///< The state in which a new job begins is evaluated as later ones are.
  judgement_settings judged = {};
  /// After training for this long the job stops; it can be resumed.
  std::optional<double> max_secs = {};
  bool continues_data = false;                    ///< The data of a job that had finished do not begin anew.
  bool data_may_change = false;                   ///< Data that are not those of the checkpoint begin anew.
  std::vector<plan_group> groups = {};            ///< The groups of the plan.
  name_values values = {};                        ///< The values that hooks see.
  std::optional<search_rules> search = {};        ///< Absent: the job is no search.
  std::map<std::string, std::string> blobs = {};  ///< Of the books with which the plan begins.
  std::vector<std::string> remarks = {};          ///< For the log of a search that has grown.
  std::shared_ptr<const group_hooks> hooks = {};  ///< Of the plan's groups; null: none.
  /// Says which call of a hook has not returned, which its thread cannot; may be null.
  std::shared_ptr<const hook_calls> hook_thread = {};
  recovery_options recovery = {};
  chief_deadlines deadlines;

  /// Takes everything that depends on the plan from `next`.
  void use(const attempt_plan& next);
};

/// The books of the job, with those of its attempt (`attempt_books`), which a new attempt replaces.
struct chief_state : attempt_books {
  static inline const char* name = "chief";
  chief_actor::stateful_pointer<chief_state> self = nullptr;
  chief_options options;
  activity spent;  ///< See counted.hpp.
  chief_phase now = chief_phase::starting;

  // -- parts that outlive an attempt ----------------------------------------------------
  roster nodes;
  troupe::agents agents;  ///< Start and end the nodes.
  troupe::evaluations evaluations;
  troupe::judgements judgements;
  /// What an evaluator in another process has judged last; absent: nothing, or there is none.
  std::optional<verdict_seen> judged_elsewhere;
  rule_questions questions;  ///< Predicates that evaluators were asked to apply.
  troupe::gates gates;
  troupe::groups groups;  ///< Each attempt takes the groups that have left from its checkpoint.
  hook_facts facts;       ///< Facts told to hooks, and how far they are behind.
  learning_rates rates;
  troupe::loops loops;
  troupe::searching searching;
  next_attempt next;       ///< What leads to the next attempt.
  inquiry whereabouts{0};  ///< After a silence.
  inquiry reporting{1};    ///< For a report to the user.
  inquiry tracing{2};      ///< For a trace.
  troupe::traces traces;
  troupe::traces::steps traced;  ///< Those of the trace that is being collected.
  job_origin origin;
  told_facts told;
  job_results results;
  session_runs session;  ///< Of a job that its caller moves.
  /// The variables that its threads wait for, by the number of the request.
  std::map<uint64_t, std::vector<std::string>> readings;
  user_wishes wishes;
  wait_timer<chief_actor::stateful_pointer<chief_state>, chief_wait> waiting;

  /// Asks the parts in a fixed order what there is to do, until there is nothing (chief_advance.cpp). Returns false if
  /// there was nothing.
  bool advance();

  // -- what all subjects use (chief_subjects.hpp) ----------------------------------------
  /// `in_pause`: its time also passes while the waits of the job are frozen.
  void arm(chief_wait w, std::chrono::milliseconds patience, bool in_pause = false) {
    waiting.arm(w, patience, in_pause);
  }
  void disarm(chief_wait w) { waiting.disarm(w); }
  error waited_for(chief_wait w, std::string source) const;
  std::chrono::milliseconds save_period() const;
  std::chrono::nanoseconds now_ns() const;
  double seconds() const;
  double steps_per_second() const;

  bool ends() const { return now >= chief_phase::closing; }
  bool trains() const { return now == chief_phase::training || now == chief_phase::draining; }
  bool flushing() const { return waiting.armed(chief_wait::flush); }
  bool may_recover() const;
  /// The end by `max_steps` and `steps`, if either is set.
  std::optional<int64_t> job_goal() const;
  std::optional<int64_t> goal() const;
  /// The end that users see, which is that of the job.
  std::optional<int64_t> shown_end() const {
    return horizon.end() && iteration_ends_at(*horizon.end()) ? job_goal() : horizon.end();
  }
  bool iteration_ends_at(int64_t step) const;
  bool ends_by_rule_at(int64_t step) const;
  bool finishes_at(int64_t step) const;
  /// Now, or in the run whose end this one finds.
  bool ended_by_rule() const { return judgements.has_ended() || judgements.ended_before().has_value(); }
  /// Whether the job ends because somebody asked for it, and would have gone on.
  bool was_stopped() const {
    return ending.stops() && (!horizon.end_is_final() || iteration_ends_at(horizon.reached()));
  }
  bool evaluations_are_gates() const;
  std::optional<group_id> group_to_drop() const;
  /// Why the job ended, if not as requested, and which groups have left.
  std::string remark() const;
  std::string prefix_of(checkpoint_id id) const;

  /// Each returns a null handle if the plan has no such node or the node has ended.
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
  /// Not to replicas of groups that have left.
  template <class M>
  void tell_replicas(const M& message) {
    for (const auto& m : nodes.members())
      if (m.what == role::replica && m.handle && !groups.has_left(m.group))
        self->send(caf::actor_cast<replica_actor>(m.handle), message);
  }
  const checked_plan& plan() const { return *options.nodes.plan; }
  neighbourhood around() { return {*self, plan(), nodes}; }
  troupe::horizon fresh_horizon() const;

  void warn(int64_t step, std::string text);
  /// Returns the number of the fact; 0 if it was not told, or not at once.
  uint64_t publish(job_event e);
  /// Sends a fact to the callbacks and returns its number.
  uint64_t tell(fact f, std::optional<int64_t> watch = {});
  /// Tells the progress that hooks have not received. Returns false if there is none.
  bool tell_progress();
  /// Sends the status to the board if it differs from the board's.
  void show_status();
};

chief_actor::behavior_type chief(chief_actor::stateful_pointer<chief_state> self, chief_options options);

}  // namespace troupe
