// Requests of the user to the chief, and what it does when a wait is over.
#include "actors/chief/chief_subjects.hpp"
#include "actors/chief/decisions.hpp"
#include "words/planted.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

static void scale_rates(chief_state& c, double factor);
static void pause(chief_state& c);
static void is_over(chief_state& c, chief_wait w);
static std::string text_of(const chief_state& c, chief_wait w);
static std::string call_awaited(const chief_state& c);

void on_request(chief_state& c, const request& x) {
  if (x.what == request::pause)
    return pause(c);
  if (x.what == request::resume)
    return go_on(c);
  if (x.what == request::save) {
    if (c.options.checkpoints && c.now == chief_phase::training && c.saves.may_save_now())
      mark_here(c, mark_snapshot);
    c.wishes.save = c.wishes.save || (!c.trains() && !c.ends() && c.now != chief_phase::starting);
    return;
  }
  if (x.what == request::report)
    return ask_for_report(c);
  if (x.what == request::scale_rate)
    return scale_rates(c, x.value);
  if (x.what == request::retire_group)
    return retire_group(c, x.group, x.begins_at, {.cause = stop_cause::hook});
  if (planted(planted_fault::stop_lost_while_saving) && x.what == request::stop && c.saves.any())
    return;
  go_on(c);
  if (x.what == request::abort) {
    c.ending.causes.abort(error{errc::cancelled, "the job was aborted", {}, c.options.name, c.horizon.reached()});
    c.agents.interrupt(cancel::all);
    return end(c);
  }
  c.ending.because(x.by_signal ? end_cause::signal : end_cause::stop);
  if (c.waiting.armed(chief_wait::back_off) || c.next.recovery.take_delayed()) {
    c.ending.causes.note("a stop was requested before the next attempt began");
    return end(c);
  }
  for (size_t i = 0; c.ending.cause() == end_cause::signal && i < c.evaluations.size(); ++i)
    if (c.evaluations.at(i).cancel())
      c.self->send(c.evaluator(i), request{request::stop});
  if (c.now == chief_phase::training)
    drain(c, c.horizon.until(), job_end::stopped);
}

/// A new factor holds from the horizon on; while a hook holds the job, that is the state that the hook was shown. A
/// checkpoint of that state already has its books, so it gets a verdict, and nothing is granted before that is durable:
/// a resumed job must continue with the same rates.
static void scale_rates(chief_state& c, double factor) {
  const auto step = c.facts.held() ? c.facts.held()->second : c.horizon.until();
  if (!c.rates.allows(step, factor))
    return c.warn(
        step, "the learning rate cannot be multiplied by " + shortest_text(factor)
                  + ": the factor must be above 0 and finite, and so must its product with those before in float32");
  if (c.facts.held())
    c.rates.answered(c.facts.held()->first, step, factor);
  if (c.ending.fails() || !(c.trains() || (c.now == chief_phase::restoring && step == c.horizon.began_at())))
    return;  // The next attempt shows the step or tells the event again, unless it begins there.
  for (const auto& [from, all] : c.rates.multiply(step, factor))
    set_rate(c, from, all);
  c.warn(step, "from step " + std::to_string(step) + " on learning rates are multiplied by "
                   + shortest_text(static_cast<float>(c.rates.at(step))));  // float32 hides last digits, as of 0.1 ·
                                                                            // 0.1.
  const checkpoint_id here{step, c.options.stored.iteration.number};
  if (c.saves.last_commit() == here)
    keep_rates(c, here);
  else if (c.saves.is_placed(step) || c.saves.is_settled(here))
    c.rates.correct(here);
}

void set_rate(chief_state& c, int64_t step, double factor) {
  c.rates.set(step, factor);
  const scale_rate news{c.attempt, step, factor};
  c.tell_replicas(news);
  c.self->send(c.outfeed(), news);
}

void keep_rates(chief_state& c, checkpoint_id id) {
  if (!c.writer())
    return;
  c.verdicts.hold();
  c.arm(chief_wait::verdict, c.options.deadlines.save);
  tell_verdict(c, id);
}

/// Steps already granted are still made; a pause only stops the extension of the horizon.
static void pause(chief_state& c) {
  if (std::exchange(c.wishes.pause, true))
    return;
  c.waiting.freeze();
}

/// Ends a pause, without granting anything.
void go_on(chief_state& c) {
  if (!std::exchange(c.wishes.pause, false))
    return;
  c.waiting.thaw();
}

/// A tick of the timer should find nothing to do except waits that are over. If it does, an earlier message did not
/// lead to everything that follows from it.
void on_deadline(chief_state& c, const deadline& x) {
  const auto over = c.waiting.on(x);
  if (over)
    is_over(c, *over);
  if (c.advance() && !over)
    c.warn(c.horizon.reached(), std::string{forgotten_text});
}

static void is_over(chief_state& c, chief_wait w) {
  switch (w) {
    case chief_wait::nodes:
    case chief_wait::leave:
    case chief_wait::preparation:
      c.ending.causes.add(c.waited_for(w, c.options.name), cure::none);
      c.agents.give_up();
      return end(c);
    case chief_wait::newest:
    case chief_wait::start: return respond(c, role::checkpoint_writer, trouble::hangs, c.waited_for(w, c.options.name));
    case chief_wait::next_save:
      if (c.now != chief_phase::training)
        return;
      if (!c.saves.any())
        mark_here(c, mark_snapshot);
      else if (c.saves.is_first_skip())
        c.warn(c.horizon.reached(), "a save every " + std::to_string(*c.options.save_secs)
                                        + " s was due while the one of step " + std::to_string(c.saves.oldest())
                                        + " is still on its way; it is skipped");
      return c.arm(chief_wait::next_save, c.save_period(), c.session.on());
    case chief_wait::next_record: c.horizon.record_next(); return arm_next_record(c);
    case chief_wait::max_secs:
      c.ending.remark = "stopped after training for " + shortest_text(*c.options.max_secs) + " s";
      return on_request(c, {request::stop});
    case chief_wait::verdict:
      return respond(c, role::checkpoint_writer, trouble::hangs, c.waited_for(w, c.options.name));
    case chief_wait::reports: return ask_around(c);
    case chief_wait::answers: return fail_of_silence(c);
    case chief_wait::commit: return give_up_saves(c);
    case chief_wait::logs: return;  // Files that are still open are no longer awaited.
    case chief_wait::report: return show_report(c);
    case chief_wait::trace: return tell_trace(c);
    case chief_wait::gone: return finish(c);
    case chief_wait::halt: return on_unhalted(c);
    case chief_wait::back_off: return begin_attempt(c);
    case chief_wait::flush: return flushed_or_not(c);
    case chief_wait::news: return fail_now(c, *std::exchange(c.ending.pending_failure, std::nullopt));
    case chief_wait::cut:
      // Replicas end at the step at hand, as at the end of the data. A blocking read is cancelled, because its batch is
      // not needed.
      if (c.horizon.idle() || !c.ending.goes_to(end_state::cut))
        return;
      if (c.options.stops_at_infeeds)
        c.tell_all<role::infeed>(stop{c.attempt});
      else
        c.tell_all<role::replica>(stop{c.attempt});
      return c.agents.interrupt(cancel::reads);
    case chief_wait::hooks:
      if (!c.ends())
        return respond(c, role::callbacks, trouble::hangs, c.waited_for(w, "callbacks"));
      c.ending.causes.add(
          error{errc::deadline_exceeded,
                c.options.name + " waited too long for " + text_of(c, w) + "; their last call was not made",
                {},
                "callbacks",
                c.horizon.reached()});
      return c.now == chief_phase::closing ? tell_end(c, end_listeners::but_hooks) : end_job_nodes(c);
    default: {
      const auto which = *evaluation_of(w);
      auto cause = c.waited_for(w, c.options.name);
      if (w == room_wait(which))
        return respond(c, role::eval_summary_writer, trouble::hangs, std::move(cause), which);
      lose_evaluator(c, which);
      return respond(c, role::evaluator, trouble::hangs, std::move(cause), which);
    }
  }
}

/// The wait as text, for errors.
static std::string text_of(const chief_state& c, chief_wait w) {
  const auto step = [](std::optional<int64_t> s) { return std::to_string(s.value_or(0)); };
  const auto of = [](std::optional<checkpoint_id> id) { return to_string(id.value_or(checkpoint_id{})); };
  switch (w) {
    case chief_wait::nodes: return c.agents.names_of_awaited() + " to start the nodes";
    case chief_wait::preparation:
      return "the preparer of " + c.agents.names_of_awaited() + " to make the plan of iteration "
             + std::to_string(c.options.stored.iteration.number + 1);
    case chief_wait::leave:
      return "the nodes of iteration " + std::to_string(c.options.stored.iteration.number)
             + " to end: " + joined(c.next.growth.leaving, ", ", [&c](node_id id) { return c.plan().at(id).name; });
    case chief_wait::newest: return "the checkpoint writer to name the newest checkpoint";
    case chief_wait::start: return "the checkpoint writer to restore the newest checkpoint to the replicas";
    case chief_wait::commit:
      return "the commit of step " + step(c.saves.any() ? std::optional{c.saves.oldest()} : std::nullopt);
    case chief_wait::hooks:
      if (c.ends())
        return "the hooks to see the end" + call_awaited(c);
      if (c.now == chief_phase::restoring)
        return "the hooks to begin" + call_awaited(c);
      if (const auto gate = c.gates.awaited())
        return "a hook's answer at step " + step(gate) + call_awaited(c);
      return "the hooks, which are " + std::to_string(c.facts.unanswered()) + " facts behind at step "
             + step(c.horizon.reached()) + call_awaited(c);
    case chief_wait::verdict:
      return "the verdict on the checkpoint of step " + of(c.saves.last_commit()) + " to be kept";
    case chief_wait::reports: return "a report of step " + step(c.horizon.reached());
    case chief_wait::answers:
    case chief_wait::next_save:
    case chief_wait::next_record:
    case chief_wait::max_secs:
    case chief_wait::flush:
    case chief_wait::news:
    case chief_wait::cut:
    case chief_wait::halt:
    case chief_wait::back_off:
    case chief_wait::logs:
    case chief_wait::report:
    case chief_wait::trace:
    case chief_wait::gone: return "an answer";  // The errors of these waits say more than this text.
    default: break;
  }
  const auto which = *evaluation_of(w);
  const auto& name = c.evaluations.settings(which).name;
  const auto which_one = "the evaluation " + (name.empty() ? "" : "'" + name + "' ") + "of step ";
  if (const auto* asked = w == rule_wait(which) ? c.questions.asked_of(which) : nullptr)
    return "the predicate of the rule '" + to_text(c.judgements.rule(asked->what.rule)) + "'";
  if (w == evaluation_wait(which))
    return which_one + of(c.evaluations.at(which).running());
  return "the results of " + which_one + of(c.evaluations.at(which).last()) + " to be written";
}

/// ": on_step() of hooks[0] (my::hook) has not returned"; empty if no hook is being called.
static std::string call_awaited(const chief_state& c) {
  const auto call = c.options.hook_thread ? c.options.hook_thread->under_way.name() : std::string{};
  return call.empty() ? call : ": " + call + " has not returned";
}

error chief_state::waited_for(chief_wait w, std::string source) const {
  return {errc::deadline_exceeded,
          options.name + " waited too long for " + text_of(*this, w),
          {},
          std::move(source),
          horizon.reached()};
}

std::chrono::milliseconds chief_state::save_period() const {
  // Clamped so that no setting makes the timer spin or a clock overflow.
  return std::chrono::milliseconds(static_cast<int64_t>(std::clamp(options.save_secs.value_or(600), 0.01, 3e7) * 1000));
}

}  // namespace troupe
