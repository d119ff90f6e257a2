// The chief's evaluations, their consequences, and the exporters that run after them.
#include "actors/chief/chief_subjects.hpp"
#include "actors/chief/decisions.hpp"
#include "actors/evaluation_records.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/files/file_system.hpp"
#include "words/planted.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

static bool evaluate_next(chief_state& c, size_t which);

/// Whether a new job begins that evaluates some batches of each evaluation before its first step.
bool checks_evaluations(const chief_state& c) {
  bool any = false;
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    any = any || (c.evaluator(i) && c.evaluations.settings(i).sanity_batches > 0);
  return any && !c.origin.came_from && c.attempt == 1 && c.ending.causes.empty() && !c.ending.stops();
}

void check_evaluations(chief_state& c, checkpoint_id id) {
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    if (const auto batches = c.evaluations.settings(i).sanity_batches; c.evaluator(i) && batches > 0) {
      c.evaluations.at(i).check(id);
      c.arm(evaluation_wait(i), c.options.deadlines.evaluation);
      c.self->send(c.evaluator(i),
                   evaluate_at{c.attempt, {id.step, id.iteration}, c.saves.prefix(), static_cast<int32_t>(i), batches});
    }
}

static void on_checked(chief_state& c, size_t which, checkpoint_id id, const evaluated& x) {
  release(c, id);
  if (!x.ok && !c.evaluations.at(which).cancelled()) {
    auto cause = x.cause;
    const auto& settings = c.evaluations.settings(which);
    const auto whose = settings.name.empty() ? std::string{} : " for '" + settings.name + "'";
    cause.notes.push_back("while evaluating " + std::to_string(settings.sanity_batches) + " batches" + whose
                          + " before the first step (sanity_batches)");
    if (settings.on_failure == failure_policy::fail)
      return fail_after_save(c, std::move(cause));
    c.warn(id.step, to_text(cause));
  }
}

/// Arranges to show the state to evaluators without a save. Nothing runs past it until it is evaluated.
void place_show(chief_state& c, int64_t step) {
  std::set<size_t> readers;
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    if (c.evaluations.shows(i, step) && c.evaluator(i))
      readers.insert(i);
  c.gates.close(gate_kind::shown, step);
  c.showing.place(step, std::move(readers));
}

/// Sends the shown state to evaluators that do nothing else until they have it. If there is none left, the memory that
/// holds the state is free again.
static void send_shown(chief_state& c) {
  show_state wish{c.attempt, *c.showing.step(), {}, {}};
  for (const auto& m : c.nodes.members())
    if (m.what == role::replica && m.handle && !c.groups.has_left(m.group))
      wish.replicas.push_back({m.id});
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    if (c.evaluations.at(i).shows() && c.evaluator(i))
      wish.readers.push_back({{}, caf::actor_cast<state_owner_actor>(c.evaluator(i))});
  c.self->send(c.writer(), std::move(wish));
}

void on_state_shown(chief_state& c, const state_shown& x) {
  if (!c.ending.fails())
    c.showing.arrived(x.step);
}

/// Whether a checkpoint of a state up to `step` may still become due for evaluation.
static bool commits_come_up_to(const chief_state& c, int64_t step) {
  return (c.saves.any() && c.saves.oldest() <= step) || c.saves.any_held() || c.facts.listening.hear_any_commit();
}

/// Results come in the order of states. Evaluators get the state once it is reached and all of them have finished with
/// earlier checkpoints; one that has evaluated the checkpoint of this state is left out. They are asked for a result
/// once they have the state and there is room for the records.
bool evaluate_shown(chief_state& c) {
  if (!c.showing.step() || c.horizon.reached() < *c.showing.step() || !c.trains() || c.ending.fails())
    return false;
  bool news = false;
  const checkpoint_id state{*c.showing.step(), c.options.stored.iteration.number};
  for (size_t i = 0; i < c.evaluations.size(); ++i) {
    auto& schedule = c.evaluations.at(i);
    const bool possible = c.evaluator(i) && c.evaluations.takes_part(i, state.step)
                          && c.ending.cause() != end_cause::signal && (schedule.last() != state || schedule.shows());
    if (c.showing.waits_for(i) && possible && schedule.idle() && !commits_come_up_to(c, state.step)) {
      schedule.show(state);
      c.arm(evaluation_wait(i), c.options.deadlines.evaluation);
      news = true;
    } else if (schedule.shows() && !possible && !schedule.is_asked()) {
      schedule.end();
      c.disarm(evaluation_wait(i));
      news = true;
    }
    if (!possible || schedule.shows())
      news |= c.showing.wait_no_more_for(i);
  }
  if (c.showing.waits())
    return news;
  if (c.showing.send()) {
    send_shown(c);
    news = true;
  }
  bool any = false;
  for (size_t i = 0; i < c.evaluations.size(); ++i) {
    auto& schedule = c.evaluations.at(i);
    if (c.showing.has_arrived() && schedule.may_ask(c.eval_summaries(i) != nullptr)) {
      news = true;
      c.self->send(c.evaluator(i),
                   evaluate_at{c.attempt, {state.step, state.iteration}, "", static_cast<int32_t>(i), -1, true});
    }
    any = any || schedule.shows();
  }
  if (any)
    return news;
  c.showing.done();
  c.gates.open(gate_kind::shown, state.step);
  return true;
}

/// Sends two records for each evaluation; the next ones wait for credit if the writer's disk is slow.
static void record_evaluation(chief_state& c, size_t which, const evaluated& x) {
  if (!c.eval_summaries(which))
    return;
  auto records = c.searching.on() ? evaluation_records(x, c.searching.evaluated_parts(),
                                                       c.searching.architecture_of(c.searching.leader_at(x.id.step)))
                                  : evaluation_records(x);
  for (auto& kept : records) {
    kept.number = c.evaluations.at(which).number_record();
    c.self->send(c.eval_summaries(which), std::move(kept));
  }
}

/// Evaluations belong to the job, not to an attempt: they number their records in one sequence.
void on_record_credit(chief_state& c, const record_credit& x) {
  if (const auto* writer = c.nodes.find(x.from); writer && writer->handle && writer->what == role::eval_summary_writer)
    c.evaluations.at(c.nodes.place_of(x.from)).set_record_credit(x.until_number);
}

bool evaluate_checkpoints(chief_state& c) {
  bool any = false;
  for (size_t i = 0; i < c.evaluations.size() && !c.ends(); ++i)
    any |= evaluate_next(c, i);
  return any;
}

void send_evaluation(chief_state& c, size_t which, checkpoint_id commit) {
  c.arm(evaluation_wait(which), c.options.deadlines.evaluation);
  c.self->send(c.evaluator(which), evaluate_at{.attempt = c.attempt,
                                               .which = {commit.step, commit.iteration},
                                               .prefix = c.prefix_of(commit),
                                               .evaluation = static_cast<int32_t>(which),
                                               .lacks_groups = c.searching.on() && c.groups.any_left()});
}

static bool evaluate_next(chief_state& c, size_t which) {
  auto& schedule = c.evaluations.at(which);
  const auto id = schedule.waiting();
  const auto next = schedule.decide(
      {.now = c.now_ns(),
       .possible = c.evaluator(which) && c.ending.cause() != end_cause::signal,
       .at_the_end = id && c.horizon.end() == id->step && c.now == chief_phase::draining && !c.ending.fails(),
       .recorded = c.eval_summaries(which) != nullptr});
  if (next == evaluation_schedule::next::nothing)
    return false;
  if (next == evaluation_schedule::next::need_room) {
    if (!c.waiting.armed(room_wait(which)))
      c.arm(room_wait(which), c.options.deadlines.save);
    return false;
  }
  c.disarm(room_wait(which));
  if (next == evaluation_schedule::next::skip) {
    schedule.drop_waiting();
    release(c, *id);
    return true;
  }
  if (const auto asked = find_leader(c, *id))
    return *asked;
  schedule.begin(c.now_ns());
  send_evaluation(c, which, *id);
  return true;
}

/// Not the prefix of the newest commit: an attempt can begin at an earlier one, and none is known while it restores.
std::string chief_state::prefix_of(checkpoint_id id) const { return join_path(options.directory, checkpoint_name(id)); }

void on_batches_evaluated(chief_state& c, const batches_evaluated& x) {
  if (const auto which = static_cast<size_t>(x.evaluation); which < c.evaluations.size())
    c.evaluations.at(which).reach(x.id, x.batches);
}

static void judge_result(chief_state& c, const evaluated& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  if (which >= c.evaluations.size() || c.questions.hold_result_of(which))
    return;
  const auto& schedule = c.evaluations.at(which);
  const auto id = schedule.running();
  if (!id)
    return;
  c.disarm(evaluation_wait(which));
  if (!x.ok || schedule.checks() || (schedule.shows() && c.ending.fails()))
    return conclude_evaluation(c, x, {});
  auto found = c.judgements.judge(c.evaluations.settings(which).name, *id, {x.metrics, x.arrays}, !schedule.shows());
  if (found && found->is_best)
    tell_verdict(c, *id);  // Before the lease ends: retention keeps it from here on.
  if (const auto newest = c.saves.last_commit(); found && found->is_best && newest && newest->step > id->step)
    tell_verdict(c, *newest);  // Readers of the best checkpoint look there.
  const auto ruling = ask_predicates(c, found ? expected<troupe::judgements::ruling>{*found} : fail(found.error()), x);
  if (ruling && !ruling->asks)
    return conclude_evaluation(c, x, *ruling);
  if (ruling)
    return;  // The evaluation continues until the predicate has answered.
  c.evaluations.at(which).end();
  fail_after_save(c, ruling.error());
}

/// The evaluation of a search has the metrics of all candidates. Those of the one that leads are also those of the job.
void on_evaluated(chief_state& c, const evaluated& x) {
  if (const auto which = static_cast<size_t>(x.evaluation);
      which < c.evaluations.size() && c.evaluations.settings(which).purpose != evaluation_purpose::regular)
    return on_demanded(c, x);
  if (!c.searching.on() || !x.ok)
    return judge_result(c, x);
  auto with_leader = x;
  with_leader.metrics = c.searching.with_leader(x.id.step, x.metrics);
  judge_result(c, with_leader);
}

static std::map<std::string, double> shown_metrics(const chief_state& c, const evaluated& x) {
  return c.searching.on() ? c.searching.without_candidates(x.metrics) : x.metrics;
}

/// Whether the running evaluation is of a checkpoint, or of a shown state that has been saved meanwhile.
static bool is_saved(const chief_state& c, size_t which) {
  const auto& schedule = c.evaluations.at(which);
  return !schedule.shows() || c.evaluations.was_offered(*schedule.running());
}

void conclude_evaluation(chief_state& c, const evaluated& x, const troupe::judgements::ruling& ruling) {
  const auto which = static_cast<size_t>(x.evaluation);
  auto& schedule = c.evaluations.at(which);
  const bool checked = schedule.checks(), shown = schedule.shows(), saved = is_saved(c, which);
  const auto ended = schedule.end();  // A failed evaluation is not repeated.
  if (checked)
    return on_checked(c, which, *ended, x);
  if (shown && c.ending.fails())
    return;  // The next attempt makes the state again.
  const int64_t step = ended->step;
  const auto& settings = c.evaluations.settings(which);
  if (x.ok && shown && saved)
    judge_saved(c, which, *ended, {x.metrics, x.arrays});
  if (x.ok) {
    c.results.metrics[settings.name] = shown_metrics(c, x);
    if (settings.exports && saved)
      begin_export(c, which, *ended, export_moment::regular);
  }
  if (planted(planted_fault::lease_forgotten))
    c.gates.open(gate_kind::commit, step);
  else if (saved)
    release(c, *ended);
  if (x.ok) {
    if (which == 0)
      c.results.arrays = x.arrays;
    c.publish({.what = job_event::kind::evaluated,
               .step = step,
               .metrics = shown_metrics(c, x),
               .arrays = x.arrays,
               .checkpoint = saved ? ended : std::nullopt,
               .evaluation = settings.name});
    record_evaluation(c, which, x);
  } else if (!schedule.cancelled()) {
    auto cause = x.cause;
    cause.notes.push_back((shown ? "while evaluating the state of step " : "while evaluating the checkpoint of step ")
                          + to_string(*ended) + (settings.name.empty() ? "" : " for '" + settings.name + "'"));
    if (settings.on_failure == failure_policy::fail
        && !(c.ending.cause() == end_cause::not_finite && cause.category == errc::nan_loss))
      return fail_after_save(c, std::move(cause));
    c.warn(step, to_text(cause));
  }
  if (ruling.ends)
    end_early(c);  // Before anything is granted.
}

/// The metrics that this evaluation has found for a checkpoint; only the step if they are no longer known.
static std::map<std::string, double> metrics_of(const chief_state& c, size_t which, checkpoint_id id) {
  const auto& name = c.evaluations.settings(which).name;
  if (const auto last = c.results.metrics.find(name);
      last != c.results.metrics.end() && c.evaluations.at(which).last() == id)
    return last->second;
  return c.judgements.results_of(name, id);
}

void begin_export(chief_state& c, size_t which, checkpoint_id id, export_moment moment) {
  c.evaluations.at(which).begin_export(id);
  c.arm(evaluation_wait(which), c.options.deadlines.evaluation);
  c.self->send(c.evaluator(which),
               export_at{c.attempt, id, c.prefix_of(id), static_cast<int32_t>(which), metrics_of(c, which, id),
                         moment == export_moment::last, c.origin.came_from == id,
                         c.searching.on() ? c.searching.known_leader(id).value_or("") : ""});
}

/// By global steps, which are not the ticks that the horizon of a search counts.
static bool has_reached_goal(const chief_state& c) {
  if (!c.searching.on())
    return c.job_goal() && *c.horizon.end() >= *c.job_goal();
  const auto* end = c.searching.ends();
  return end && (end->why == end_search::cause::max_steps || end->why == end_search::cause::max_iterations);
}

/// Whether exporters of the end have work: the job has reached its goal, or a rule has ended it.
bool exports_at_end(const chief_state& c) {
  bool any = false;
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    any = any
          || (c.evaluations.settings(i).exports_at_end && c.evaluator(i) && c.saves.last_commit()
              && c.evaluations.at(i).last() == c.saves.last_commit());
  return any && c.horizon.end_is_final()
         && (c.judgements.has_ended() || c.judgements.ended_before() || has_reached_goal(c));
}

/// The checkpoint's lease has ended, but the newest checkpoint is never deleted, and retention keeps the best one.
void export_last(chief_state& c) {
  c.ending.goes_to(end_state::exported);
  const auto id = c.judgements.uses_best() ? *c.judgements.best() : *c.saves.last_commit();
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    if (c.evaluations.settings(i).exports_at_end && c.evaluator(i)
        && c.evaluations.at(i).last() == c.saves.last_commit())
      begin_export(c, i, id, export_moment::last);
}

void on_exported(chief_state& c, const exported& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  if (which >= c.evaluations.size())
    return;
  const auto done = c.evaluations.at(which).end_export();
  if (!done)
    return;
  c.disarm(evaluation_wait(which));
  release(c, *done);
  const auto& settings = c.evaluations.settings(which);
  if (x.ok) {
    auto& paths = c.results.exports[settings.name];
    paths.resize(x.paths.size());
    for (size_t i = 0; i < paths.size(); ++i)
      if (!x.paths[i].empty() || c.ending.state() < end_state::exported)
        paths[i] = x.paths[i];
  } else {
    auto cause = x.cause;
    cause.notes.push_back("while exporting the checkpoint of step " + to_string(*done)
                          + (settings.name.empty() ? "" : " for '" + settings.name + "'"));
    if (settings.on_failure == failure_policy::fail)
      return fail_after_save(c, std::move(cause));
    c.warn(done->step, to_text(cause));
  }
}

/// The evaluator will neither finish its evaluation nor begin another.
void lose_evaluator(chief_state& c, size_t which) {
  c.disarm(evaluation_wait(which));
  c.disarm(room_wait(which));
  c.disarm(rule_wait(which));
  c.questions.drop(which);
  const bool shown = c.evaluations.at(which).shows();
  for (const auto id : c.evaluations.lose(which))
    if (!shown)
      release(c, id);
  if (shown && c.showing.is_on_way() && !c.ends())
    send_shown(c);  // The evaluator is left out.
}

}  // namespace troupe
