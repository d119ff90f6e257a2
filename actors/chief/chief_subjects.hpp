// What the sources of the chief do for one another, by subject. Handlers, `on_...`, change parts; those that return whether they did something are
// lines of `advance`.
#pragma once

#include "actors/chief/chief.hpp"

namespace troupe {

// -- chief.cpp: starting and restoring
/// Begins an attempt: has the agents start these nodes; answered by `started`.
void start_nodes_of(chief_state& c, const std::vector<node_id>& who);
/// Has the checkpoint writer fill the parameter stores; answered by `restored`.
void restore_state(chief_state& c);
/// The error where no checkpoint is left of those that the job has saved.
error nothing_left(const chief_state& c);
bool begin_when_ready(chief_state& c);

// -- chief_training.cpp: horizon, marks, reports, hooks, the end in sight
/// Moves the horizon, as far as gates, saves and hooks allow.
bool extend(chief_state& c);
/// Tells everyone the horizon and its marks.
void grant_up_to(chief_state& c, int64_t until, std::vector<mark> marks);
/// Marks the state at the horizon, where nobody has passed it.
void mark_here(chief_state& c, mark_kinds kinds);
void on_progress(chief_state& c, const progress& x);
/// Something was heard: the next report has the whole patience again.
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
/// No step is granted past `at`, which is marked as the end. `is_final`: the job has finished there.
void drain(chief_state& c, int64_t at, bool is_final);
bool drain_further(chief_state& c);

// -- chief_growth.cpp: from one plan to the next
bool grows(const chief_state& c);
void grow(chief_state& c);
void on_newest(chief_state& c, const newest& x);
/// The nodes of an iteration have ended with it, or with an attempt that failed meanwhile.
bool go_on_when_gone(chief_state& c);
/// Begins an attempt with the nodes of the plan: starts those that are not there, but for dropped groups and lost evaluations.
void start_missing(chief_state& c);
void on_prepared(chief_state& c, const prepared& x);
/// The chief's books of the plan become those of another one.
void adopt(chief_state& c, const attempt_plan& next);

// -- chief_saves.cpp
/// The state is marked to be saved: closes its gate, and sends its books now or once it is reached.
void place_save(chief_state& c, int64_t step);
void stop_listening(chief_state& c);
/// The chief's own part of a snapshot.
void send_books(chief_state& c, int64_t step);
bool books_can_wait(const chief_state& c);
bool send_books_up_to(chief_state& c, int64_t step);
void on_committed(chief_state& c, const committed& x);
bool publish_commits(chief_state& c);
/// A commit is told: its evaluation may begin; without one its lease ends and its gate opens.
void queue_evaluations(chief_state& c, const committed& x, bool is_new);
/// Ends the lease of a checkpoint that no evaluation needs, and opens its gate if training waits for none.
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
void on_batches_evaluated(chief_state& c, const batches_evaluated& x);
void on_evaluated(chief_state& c, const evaluated& x);
void conclude_evaluation(chief_state& c, const evaluated& x, const troupe::judgements::ruling& ruling);
void begin_export(chief_state& c, size_t which, checkpoint_id id, bool is_final);
bool exports_at_end(const chief_state& c);
void export_last(chief_state& c);
void on_exported(chief_state& c, const exported& x);
/// Its evaluation takes no part any more.
void lose_evaluator(chief_state& c, size_t which);

// -- chief_rules.cpp: rules that end the job, and what checkpoints are told of them
expected<troupe::judgements::ruling> ask_predicates(chief_state& c, expected<troupe::judgements::ruling> found, const std::optional<evaluated>& of);
void on_rule_applied(chief_state& c, const rule_applied& x);
void end_early(chief_state& c);
/// What is known of a checkpoint since its books were sent is kept beside it.
void tell_verdict(chief_state& c, checkpoint_id id);
void on_late_properties_kept(chief_state& c, const late_properties_kept& x);
void recall_evaluations(chief_state& c, checkpoint_id id);
void judge_saved(chief_state& c, checkpoint_id id);
void judge_saved(chief_state& c, size_t which, checkpoint_id id, const evaluation_values& found);

// -- chief_groups.cpp: groups that leave or retire
departed departed_of(const chief_state& c, group_id group);
/// Takes the end of a group's stream as the group's own, by its policy. False: it is the job's.
bool lose_group(chief_state& c, const stream_end& x);
/// Tells everyone who has left when an attempt begins.
void begin_groups(chief_state& c);

// -- chief_requests.cpp: requests of the user, and waits that are over
void on_request(chief_state& c, const request& x);
void set_rate(chief_state& c, int64_t step, double factor);
void keep_rates(chief_state& c, checkpoint_id id);
/// Ends a pause.
void go_on(chief_state& c);
void on_deadline(chief_state& c, const deadline& x);

// -- chief_ending.cpp: failures, downs, what can still be saved
/// By the table of roles. `which`: its number among several of that role.
void respond(chief_state& c, role who, trouble what, error cause, size_t which = 0);
void on_failure(chief_state& c, const failure& x);
void on_input_failed(chief_state& c, const input_failed& x);
void on_input_warned(chief_state& c, const input_warned& x);
void on_down(chief_state& c, const caf::down_msg& x);
void flush_outfeed(chief_state& c);
void on_flushed(chief_state& c, const flushed& x);
void flushed_or_not(chief_state& c);
/// No later step can be made: what can still be saved is settled, then another attempt or the end follows.
void fail_now(chief_state& c, error cause);
/// The failed attempt has nothing more to say.
void conclude(chief_state& c);
void give_up_saves(chief_state& c);
/// The model is healthy: its state is saved once more, then the job ends.
void fail_after_save(chief_state& c, error cause);
/// The new checkpoint writer is there: the last save is made with it.
void save_with_new_writer(chief_state& c);

// -- chief_finish.cpp: the end, for those who hear of it, and the last waits
/// Nothing is awaited any more but the end itself.
void end(chief_state& c);
bool end_with_nodes(chief_state& c);
bool is_heard_at_the_end(const chief_state& c, role who, const caf::error& reason);
bool tell_end_when_closed(chief_state& c);
void tell_end(chief_state& c, bool to_hooks);
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
/// The books of the attempt that has ended make place for those of the next one.
void begin_books(chief_state& c);

}  // namespace troupe
