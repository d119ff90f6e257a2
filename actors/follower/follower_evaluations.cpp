// The evaluations of a follower: when each begins, what follows from its result, and its exporters.
#include "actors/evaluation_records.hpp"
#include "actors/follower/follower.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "words/guarded.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

/// How often a checkpoint is evaluated whose exporters fail.
constexpr int attempts_max = 3;

}  // namespace

/// User code, which may throw. False: the process ends.
bool follower_state::listener_goes_on(size_t which, const char* call,
                                      const std::function<bool(evaluation_listener&)>& asks) {
  const auto& listener = options.evaluations[which].listener;
  if (!listener)
    return true;
  auto goes_on = guarded(std::string{"the evaluation_listener, in "} + call,
                         [&] { return expected<bool>{asks(*listener)}; });
  if (!goes_on)
    fail_with(std::move(goes_on.error()));
  else if (!*goes_on)
    stop(call);
  return goes_on && *goes_on;
}

bool follower_state::has_gone(checkpoint_id id) const {
  const auto at = judged_checkpoint_of(*options.files, options.directory, id);
  return !at && at.error().category == errc::not_found;
}

/// The chief may delete a checkpoint until it is held. False: it has gone, and the watcher will name a newer one.
bool follower_state::hold(size_t which, checkpoint_id id) {
  auto& e = evaluations[which];
  auto held = options.files->hold(join_path(options.directory, manifest_name(id)));
  if (held) {
    e.hold = std::move(*held);
    return true;
  }
  e.schedule.drop_waiting();
  if (held.error().category == errc::not_found) {
    warn("the checkpoint of step " + to_string(id)
         + " has gone before its evaluation began: the next one is evaluated");
  } else {
    e.schedule.recall(id);
    fail_by_policy(which, std::move(held.error()));
  }
  return false;
}

bool follower_state::evaluate_next(size_t which) {
  auto& schedule = evaluations[which].schedule;
  const auto id = schedule.waiting();
  if (!id || schedule.running() || schedule.exports() || evaluations[which].lost)
    return false;
  const bool is_last = job_has_ended() && seen->id == *id;
  if (!is_last && schedule.due() > now_ns())
    return false;  // `wait_for_due` has armed a wait.
  const auto next = schedule.decide({.now = now_ns(),
                                     .possible = true,
                                     .at_the_end = true,
                                     .recorded = nodes.nth<role::eval_summary_writer>(which) != nullptr});
  if (next != evaluation_schedule::next::begin) {
    without_room = which;  // The next record_credit brings room.
    return false;
  }
  if (!hold(which, *id))
    return false;
  if (!listener_goes_on(which, "before", [](evaluation_listener& l) { return l.before(); }))
    return false;
  schedule.begin(now_ns());
  waiting.arm(wait_of(which), options.deadlines.evaluation);
  waiting.disarm(follower_wait::reminder);
  self->send(evaluator(which), evaluate_at{.which = {id->step, id->iteration},
                                           .prefix = prefix_of(*id),
                                           .evaluation = static_cast<int32_t>(which)});
  return true;
}

/// One wait serves all evaluations: it is for the one that is due first.
void follower_state::wait_for_due() {
  std::optional<std::chrono::nanoseconds> first;
  for (const auto& e : evaluations)
    if (e.schedule.waiting() && !e.schedule.running() && !e.schedule.exports() && e.schedule.due() > now_ns())
      first = std::min(first.value_or(e.schedule.due()), e.schedule.due());
  if (first)
    waiting.arm(follower_wait::due, *first - now_ns());
  else
    waiting.disarm(follower_wait::due);
}

void follower_state::on_record_credit(const record_credit& x) {
  if (const auto* writer = nodes.find(x.from); writer && writer->what == role::eval_summary_writer)
    evaluations[nodes.place_of(x.from)].schedule.set_record_credit(x.until_number);
  advance();
}

void follower_state::on_evaluated(const evaluated& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  if (now == phase::ended || which >= evaluations.size())
    return;
  auto& e = evaluations[which];
  const auto id = e.schedule.running();
  if (!id)
    return;
  waiting.disarm(wait_of(which));
  waiting.arm(follower_wait::reminder, reminder_every);
  if (!x.ok)
    e.schedule.end();
  if (!x.ok && stopped)
    return advance();  // Cancelled.
  if (!x.ok) {
    auto cause = x.cause;
    cause.notes.push_back("while evaluating the checkpoint of step " + to_string(*id)
                          + (settings(which).name.empty() ? "" : " for '" + settings(which).name + "'"));
    return cause.category == errc::not_found && has_gone(*id) ? leave_out(which, *id, std::move(cause))
                                                              : fail_by_policy(which, std::move(cause));
  }
  e.has_evaluated = true;
  e.unrecorded = x;
  judge(which, *id, x);
}

/// The evaluation is under way until its verdict is there: predicates are user code, and are asked on its thread.
void follower_state::judge(size_t which, checkpoint_id id, const evaluated& x) {
  const auto found = judgements.judge(settings(which).name, id, {x.metrics, x.arrays});
  if (!found)
    return fail_with(found.error());
  if (auto kept = keep_verdict(id, found->is_best, false); !kept)
    return fail_with(kept.error());
  follow(which, *found);
}

void follower_state::follow(size_t which, const expected<troupe::judgements::ruling>& found) {
  auto& e = evaluations[which];
  if (!found)
    return fail_with(found.error());
  if (found->asks) {
    e.asked = {++questions, *found->asks};
    waiting.arm(wait_of(which), options.deadlines.hooks);
    self->send(evaluator(which), apply_rule{questions, static_cast<int32_t>(found->asks->rule),
                                            judgements.history(found->asks->evaluation)});
    return advance();
  }
  const auto id = e.schedule.end();
  if (auto kept = keep_verdict(*id, false, found->ends.has_value()); !kept)
    return fail_with(kept.error());
  if (!settings(which).exports)
    return conclude(which, *std::exchange(e.unrecorded, std::nullopt));
  export_at(which, *id, false);
  advance();
}

void follower_state::on_rule_applied(const rule_applied& x) {
  for (size_t i = 0; i < evaluations.size() && now != phase::ended; ++i) {
    if (!evaluations[i].asked || evaluations[i].asked->number != x.number)
      continue;
    const auto asked = std::exchange(evaluations[i].asked, std::nullopt)->what;
    waiting.disarm(wait_of(i));
    const auto why = x.why.empty() ? std::nullopt : std::optional{x.why};
    return follow(i, x.ok ? judgements.answered(asked, why) : fail(x.cause));
  }
}

/// Held before judged.json names it, so that it is there when the chief looks.
expected<void> follower_state::keep_verdict(checkpoint_id id, bool is_best, bool ends) {
  const bool says_end = ends && !written.ends;
  if (!is_best && !says_end)
    return {};
  const auto hold = [&]() -> expected<std::unique_ptr<file_hold>> {
    return options.files->hold(join_path(options.directory, manifest_name(id)));
  };
  auto at = judged_checkpoint_of(*options.files, options.directory, id);
  auto held = hold();
  if (!at || !held) {
    auto cause = at ? held.error() : at.error();
    if (cause.category != errc::not_found)
      return fail(std::move(cause));  // Another process evaluates it again.
    if (is_best)
      judgements.take_back_best();
    warn("the checkpoint of step " + to_string(id) + " has gone before its verdict was kept: " + cause.message);
    return {};
  }
  if (!(*held)->protects())
    warn("the file system of " + options.directory
         + " has no locks: the best checkpoint may be deleted before the chief knows that it is the best");
  if (says_end) {
    auto again = hold();
    written.ends = {*at, judgements.rule_that_ended(), judgements.why_ended()};
    end_hold = again ? std::move(*again) : nullptr;
  }
  if (is_best) {
    written.best = {*at, judgements.best_value()};
    best_hold = std::move(*held);
  }
  return write_judged(*options.files, options.directory, written);
}

/// `again`: where this process was killed between an export and its record, the export is there.
void follower_state::export_at(size_t which, checkpoint_id id, bool is_final) {
  auto& e = evaluations[which];
  e.schedule.begin_export(id);
  waiting.arm(wait_of(which), options.deadlines.evaluation);
  const auto& name = settings(which).name;
  const auto known = results.metrics.find(name);
  const auto metrics = e.unrecorded && e.unrecorded->id == id                      ? e.unrecorded->metrics
                       : known != results.metrics.end() && e.schedule.last() == id ? known->second
                                                                                   : judgements.results_of(name, id);
  self->send(evaluator(which), troupe::export_at{.id = id,
                                                 .prefix = prefix_of(id),
                                                 .evaluation = static_cast<int32_t>(which),
                                                 .metrics = metrics,
                                                 .is_final = is_final,
                                                 .again = results.exports.find(name) == results.exports.end()});
}

void follower_state::on_exported(const exported& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  if (now == phase::ended || which >= evaluations.size())
    return;
  auto& e = evaluations[which];
  const auto id = e.schedule.end_export();
  if (!id)
    return;
  waiting.disarm(wait_of(which));
  const auto result = std::exchange(e.unrecorded, std::nullopt);
  if (!x.ok && result)
    return try_again(which, *id, x.cause);
  if (!x.ok)
    return fail_by_policy(which, x.cause);
  auto& paths = results.exports[settings(which).name];
  if (now == phase::exporting && paths.size() == x.paths.size()) {
    for (size_t i = 0; i < paths.size(); ++i)
      if (!x.paths[i].empty())
        paths[i] = x.paths[i];
  } else {
    paths = x.paths;
  }
  return result ? conclude(which, *result) : advance();
}

/// The record is written last: until then this checkpoint counts as not evaluated.
void follower_state::conclude(size_t which, const evaluated& x) {
  auto& e = evaluations[which];
  e.failures = 0;
  results.metrics[settings(which).name] = x.metrics;
  if (which == 0)
    results.arrays = x.arrays;
  if (const auto writer = nodes.nth<role::eval_summary_writer>(which))
    for (auto& kept : evaluation_records(x)) {
      kept.number = e.schedule.number_record();
      self->send(writer, std::move(kept));
    }
  publish({.what = job_event::kind::evaluated,
           .step = x.id.step,
           .metrics = x.metrics,
           .arrays = x.arrays,
           .checkpoint = x.id,
           .evaluation = settings(which).name});
  const evaluation_result told{
      static_cast<int64_t>(x.metrics.at("global_step")), x.metrics, x.batches, x.seconds, x.checkpoint, {}, x.arrays};
  listener_goes_on(which, "after",
                   [&](evaluation_listener& l) { return l.after(evaluation_outcome::evaluated, &told); });
  advance();
}

/// The exporters failed. A newer checkpoint takes the place of this one.
void follower_state::try_again(size_t which, checkpoint_id id, error cause) {
  auto& e = evaluations[which];
  if (++e.failures >= attempts_max)
    return fail_by_policy(which, std::move(cause));
  publish({.what = job_event::kind::warning,
           .step = id.step,
           .text = to_text(cause) + "; the newest checkpoint will be evaluated"});
  e.schedule.forget(id);
  if (!e.schedule.waiting())
    e.schedule.offer(seen->id);
  advance();
}

/// The checkpoint was deleted before it was read, where the file system has no locks. The watcher will name a newer
/// one.
void follower_state::leave_out(size_t which, checkpoint_id id, error cause) {
  evaluations[which].schedule.forget(id);
  publish({.what = job_event::kind::warning,
           .step = id.step,
           .text = to_text(cause) + "; the next checkpoint will be evaluated"});
  advance();
}

void follower_state::fail_by_policy(size_t which, error cause) {
  if (settings(which).on_failure == failure_policy::fail)
    return fail_with(std::move(cause));
  evaluations[which].failures = 0;
  publish({.what = job_event::kind::warning, .step = seen ? seen->id.step : 0, .text = to_text(cause)});
  advance();
}

}  // namespace troupe
