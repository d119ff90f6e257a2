// Functions that the chief's sources call across subjects. Handlers (`on_...`) change the chief's parts; functions that
// return whether they did something are lines of `advance`.
#pragma once

#include "actors/chief/chief.hpp"

namespace troupe {

// -- chief.cpp: starting and restoring
/// Begins an attempt: asks the agents to start these nodes; answered by `started`.
void start_nodes_of(chief_state& c, const std::vector<node_id>& who);
/// Asks the checkpoint writer to fill the parameter stores; answered by `restored`.
void restore_state(chief_state& c);
/// The error if none of the checkpoints that the job has saved is left.
error nothing_left(const chief_state& c);
bool begin_when_ready(chief_state& c);

// -- chief_training.cpp: horizon, marks, reports, hooks, the end in sight
/// Moves the horizon, as far as gates, saves and hooks allow.
bool extend(chief_state& c);
/// Sends the horizon and its marks to infeeds and replicas.
void grant_up_to(chief_state& c, int64_t until, std::vector<mark> marks);
/// Marks the state at the horizon, which no node has passed.
void mark_here(chief_state& c, mark_kinds kinds);
void on_progress(chief_state& c, const progress& x);
void tell_loop(chief_state& c, const loop_point& x);
/// A message ended the silence: the next report gets the whole time again.
void end_silence(chief_state& c);
void ask_around(chief_state& c);
void fail_of_silence(chief_state& c);
void on_standing(chief_state& c, const standing& x);
void on_lane(chief_state& c, const step_report& x);
bool fail_as_announced(chief_state& c);
void on_stream_end(chief_state& c, const stream_end& x);
void on_hooks_ready(chief_state& c, const hooks_ready& x);
void on_answered(chief_state& c, const answered& x);
void on_hooks_ended(chief_state& c, const hooks_ended& x);
/// No step is granted past `at`, which is marked as the end.
void drain(chief_state& c, int64_t at, job_end how);
bool drain_further(chief_state& c);

// -- chief_report.cpp: what all actors do with their time
/// Asks every node, unless they are being asked; those that do not answer in a second are busy.
void ask_for_report(chief_state& c);
void show_report(chief_state& c);

// -- chief_trace.cpp: traces of steps
/// Steps up to `until` are about to be granted: nodes record from now on if a trace begins among them.
void record_below(chief_state& c, int64_t until);
/// Asks all nodes for what they have recorded once the steps of a trace have been made.
bool collect_trace(chief_state& c);
void tell_trace(chief_state& c);
/// The attempt has failed, and with it the trace.
void drop_trace(chief_state& c);

// -- chief_growth.cpp: from one plan to the next
bool grows(const chief_state& c);
void grow(chief_state& c);
void on_newest(chief_state& c, const newest& x);
/// Goes on once the nodes to end have ended, with an iteration or with an attempt that failed meanwhile.
bool go_on_when_gone(chief_state& c);
/// Begins an attempt with the nodes of the plan: starts those that are missing, except dropped groups and lost
/// evaluators.
void start_missing(chief_state& c);
void on_prepared(chief_state& c, const prepared& x);
/// Replaces what the chief knows of the plan by the `next` plan.
void adopt(chief_state& c, const attempt_plan& next);

// -- chief_search.cpp: a job that is a search
/// An attempt begins at this state. Returns false if it cannot, and the job fails.
bool begin_search(chief_state& c, const restored& x);
/// The search has heard of something with this outcome: an error fails the job, another end becomes that of training.
void follow_search(chief_state& c, const expected<void>& outcome);
/// Adds the books of the search to those of a state. Returns false if that cannot be, and the job fails.
bool enter_search_books(chief_state& c, int64_t step, snapshot_part& part);
/// The next plan is to be made from the commit of `growth`. A commit at the end of an iteration gets the books of the
/// next one. `asked`: the attempt has ended there; otherwise none has begun. Returns false if no plan is to be made.
bool choose_next(chief_state& c, bool asked);

/// Whether the search needs an evaluation of the newest commit before the job grows or ends.
bool demands_evaluation(const chief_state& c);
/// Asks for that evaluation. Returns false if it is under way.
bool evaluate_on_demand(chief_state& c);
/// An evaluation of that commit shows who leads there by the rules of the search. Absent: that is known, or will not
/// be; otherwise an evaluation for it is under way: true if it was asked for just now.
std::optional<bool> find_leader(chief_state& c, checkpoint_id commit);
/// An evaluation that was demanded has ended.
void on_demanded(chief_state& c, const evaluated& x);
/// The job has grown into an iteration, which begins.
void tell_growth(chief_state& c);

// -- chief_session.cpp: a job that its caller moves
void on_run_until(chief_state& c, const run_until& x);
void on_read_variables(chief_state& c, const read_variables& x);
void on_variables_read(chief_state& c, const variables_read& x);
void arm_next_record(chief_state& c);
/// Hooks are told that an attempt begins at `step`.
void tell_created(chief_state& c, int64_t step);
/// An attempt trains.
void session_begins(chief_state& c);
/// An attempt fails: a failure of work beside the call at hand is a cause, too.
void hear_of_work_beside(chief_state& c);
/// The job recovers: the caller begins that work anew before the next attempt begins.
void have_work_begun_anew(chief_state& c);
/// Does what the call at hand needs next, and ends it.
bool serve_session(chief_state& c);
/// Whether the steps of the run at hand are made, or it has not begun, and hooks are waited for.
bool ends_a_run(const chief_state& c);
/// Whether only the caller is waited for.
bool rests_between_runs(const chief_state& c);

// -- chief_saves.cpp
/// The state is marked as a save: closes its gate, and sends its books now or once the state is reached.
void place_save(chief_state& c, int64_t step);
void stop_listening(chief_state& c);
/// Sends the chief's own part of a snapshot.
void send_books(chief_state& c, int64_t step);
bool books_can_wait(const chief_state& c);
/// Sends the books of saves up to `step` that wait, up to the first one that lacks values of groups.
bool send_books_up_to(chief_state& c, int64_t step);
bool lacks_values(const chief_state& c, int64_t step);
void on_committed(chief_state& c, const committed& x);
bool publish_commits(chief_state& c);
/// Called when a commit has been told: its evaluation may begin; if there is none, its lease ends and its gate opens.
void queue_evaluations(chief_state& c, const committed& x, bool is_new);
/// Ends the lease of a checkpoint if no evaluation needs it, and opens its gate if training waits for none of them.
void release(chief_state& c, checkpoint_id id);
void on_save_failed(chief_state& c, const save_failed& x);

// -- chief_evaluations.cpp: evaluations and exporters
bool checks_evaluations(const chief_state& c);
void check_evaluations(chief_state& c, checkpoint_id id);
void place_show(chief_state& c, int64_t step);
void on_state_shown(chief_state& c, const state_shown& x);
bool evaluate_shown(chief_state& c);
void on_record_credit(chief_state& c, const record_credit& x);
bool evaluate_checkpoints(chief_state& c);
/// Of evaluation `which`, whose evaluator is alive.
void send_evaluation(chief_state& c, size_t which, checkpoint_id commit);
void on_batches_evaluated(chief_state& c, const batches_evaluated& x);
void on_evaluated(chief_state& c, const evaluated& x);
void conclude_evaluation(chief_state& c, const evaluated& x, const troupe::judgements::ruling& ruling);
/// The regular exports follow an evaluation; the last ones the end of a finished job.
enum class export_moment : uint8_t { regular, last };
void begin_export(chief_state& c, size_t which, checkpoint_id id, export_moment moment);
bool exports_at_end(const chief_state& c);
void export_last(chief_state& c);
void on_exported(chief_state& c, const exported& x);
/// The evaluation of this evaluator takes part in nothing any more.
void lose_evaluator(chief_state& c, size_t which);

// -- chief_rules.cpp: rules that end the job, and verdicts
expected<troupe::judgements::ruling> ask_predicates(chief_state& c, expected<troupe::judgements::ruling> found,
                                                    const std::optional<evaluated>& of);
void on_rule_applied(chief_state& c, const rule_applied& x);
void end_early(chief_state& c);
void on_verdict_seen(chief_state& c, const verdict_seen& x);
/// Makes the verdict of an evaluator in another process the job's own, while it trains.
void follow_verdict(chief_state& c);
/// Sends the checkpoint writer the properties that became known after the books were sent; it stores them beside the
/// checkpoint.
void tell_verdict(chief_state& c, checkpoint_id id);
void on_late_properties_kept(chief_state& c, const late_properties_kept& x);
void recall_evaluations(chief_state& c, checkpoint_id id);
void judge_saved(chief_state& c, checkpoint_id id);
void judge_saved(chief_state& c, size_t which, checkpoint_id id, const evaluation_values& found);

// -- chief_groups.cpp: groups that leave or retire
departed departed_of(const chief_state& c, group_id group);
/// Treats the end of a group's stream as the group's own if its policy says so. Returns false if it is the end of the
/// job.
bool lose_group(chief_state& c, const stream_end& x);
/// At the beginning of an attempt, tells all concerned nodes which groups have left, and which retire.
void begin_groups(chief_state& c);
/// A group of a search stops training at the horizon, for this cause, and its books say so. Nothing happens if the plan
/// has no group of that number that begins there: a slow hook may ask for one of an iteration that has ended.
void retire_group(chief_state& c, group_id group, int64_t begins_at, spec_stop stop);

// -- chief_requests.cpp: requests of the user, and waits that are over
void on_request(chief_state& c, const request& x);
void set_rate(chief_state& c, int64_t step, double factor);
void keep_rates(chief_state& c, checkpoint_id id);
/// Ends a pause.
void go_on(chief_state& c);
void on_deadline(chief_state& c, const deadline& x);

// -- chief_ending.cpp: failures, downs, what can still be saved
/// Responds by the table of roles. `which`: the index of the node among those of its role.
void respond(chief_state& c, role who, trouble what, error cause, size_t which = 0);
void on_failure(chief_state& c, const failure& x);
void on_input_failed(chief_state& c, const input_failed& x);
void on_input_warned(chief_state& c, const input_warned& x);
/// Publishes a node's warning once, however often it is repeated: now, or as soon as the training begins.
void warn_of_node(chief_state& c, const std::string& text);
void on_down(chief_state& c, const caf::down_msg& x);
void flush_outfeed(chief_state& c);
void on_flushed(chief_state& c, const flushed& x);
void flushed_or_not(chief_state& c);
/// No later step can be made: settles the saves that can still be completed; then another attempt or the end follows.
void fail_now(chief_state& c, error cause);
/// The failed attempt has nothing left to do.
void conclude(chief_state& c);
void give_up_saves(chief_state& c);
/// The model is healthy: saves its state once more, then the job ends.
void fail_after_save(chief_state& c, error cause);
/// The new checkpoint writer has been started: makes the last save with it.
void save_with_new_writer(chief_state& c);

// -- chief_finish.cpp: the end of the job, and who is told
/// From here on only the end itself is awaited.
void end(chief_state& c);
bool end_with_nodes(chief_state& c);
bool is_heard_at_the_end(const chief_state& c, role who, const caf::error& reason);
bool tell_end_when_closed(chief_state& c);
/// Who is told the end: hooks that have failed or hang are not.
enum class end_listeners : uint8_t { all, but_hooks };
void tell_end(chief_state& c, end_listeners to);
void end_job_nodes(chief_state& c);
bool finish_when_gone(chief_state& c);
void finish(chief_state& c);

// -- chief_recovery.cpp: from a failed attempt to the next one
void halt_all(chief_state& c);
void on_halted(chief_state& c, const halted& x);
void on_unhalted(chief_state& c);
void recover(chief_state& c, error cause, std::chrono::milliseconds delay);
bool begin_delayed_attempt(chief_state& c);
void begin_attempt(chief_state& c);
/// Replaces the books of the attempt that has ended by fresh ones.
void begin_books(chief_state& c);

}  // namespace troupe
