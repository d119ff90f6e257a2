// What a chief is asked by the user, and what it does when a wait is over.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void chief_state::on_request(const request& x) {
  if (x.what == request::pause)
    return pause();
  if (x.what == request::resume)
    return go_on();
  if (x.what == request::save) {
    if (options.checkpoints && now == phase::training && saves.may_save_now())
      mark_here(mark_snapshot);
    wishes.save = wishes.save || now == phase::restoring || now == phase::recovering;
    return;
  }
  if (x.what == request::scale_rate)
    return scale_rates(x.value);
  go_on();
  if (x.what == request::abort) {
    ending.causes.abort(error{errc::cancelled, "the job was aborted", {}, options.name, horizon.reached()});
    options.nodes->cancel();
    return end();
  }
  ending.because(x.by_signal ? end_cause::signal : end_cause::stop);
  if (waiting.armed(chief_wait::back_off) || recovery.take_delayed()) {
    ending.causes.note("a stop was requested before the next attempt began");
    return end();
  }
  for (size_t i = 0; ending.cause() == end_cause::signal && i < evaluations.size(); ++i)
    if (evaluations.at(i).cancel())
      self->send(evaluator(i), request{request::stop});
  if (now == phase::training)
    drain(horizon.until(), false);
}

/// From the horizon on: while a hook holds the job that is the state which it was shown. A checkpoint of that state, which has its books
/// already, gets a verdict, and nothing is granted before that is durable, so that a resumed job goes on with the same rates.
void chief_state::scale_rates(double factor) {
  const auto step = facts.held() ? facts.held()->second : horizon.until();
  if (!rates.allows(step, factor))
    return warn(step, "the learning rate cannot be multiplied by " + shortest_text(factor)
                        + ": the factor must be above 0 and finite, and so must its product with those before");
  if (facts.held())
    rates.answered(facts.held()->first, step, factor);
  if (ending.fails() || !(trains() || (now == phase::restoring && step == horizon.began_at())))
    return;  // The next attempt shows the step or tells the event again, unless it begins there.
  for (const auto& [from, all] : rates.multiply(step, factor))
    set_rate(from, all);
  warn(step, "from step " + std::to_string(step) + " on learning rates are multiplied by "
               + shortest_text(static_cast<float>(rates.at(step))));  // Without the last digits of products such as 0.1 · 0.1.
  const checkpoint_id here{step, options.iteration};
  if (saves.last_commit() == here)
    keep_rates(here);
  else if (saves.is_placed(step) || saves.is_settled(here))
    rates.correct(here);
}

void chief_state::set_rate(int64_t step, double factor) {
  rates.set(step, factor);
  const scale_rate news{attempt, step, factor};
  tell_replicas(news);
  self->send(outfeed(), news);
}

void chief_state::keep_rates(checkpoint_id id) {
  if (!writer())
    return;
  verdicts.hold();
  arm(chief_wait::verdict, options.deadlines.save);
  tell_verdict(id);
}

/// Steps that are granted are still made; a paused job is one whose horizon stands.
void chief_state::pause() {
  if (std::exchange(wishes.pause, true))
    return;
  waiting.freeze();
}

/// Ends a pause, without granting anything.
void chief_state::go_on() {
  if (!std::exchange(wishes.pause, false))
    return;
  waiting.thaw();
}

/// A tick of the timer finds nothing to do but waits that are over: if it does, a message before has not led to all that follows from it.
void chief_state::on_deadline(const deadline& x) {
  const auto over = waiting.on(x);
  if (over)
    is_over(*over);
  if (advance() && !over)
    warn(horizon.reached(), std::string{forgotten_text});
}

void chief_state::is_over(chief_wait w) {
  switch (w) {
    case chief_wait::start:
      return respond(role::checkpoint_writer, trouble::hangs, waited_for(w, options.name));
    case chief_wait::next_save:
      if (now != phase::training)
        return;
      if (!saves.any())
        mark_here(mark_snapshot);
      else if (saves.is_first_skip())
        warn(horizon.reached(), "a save every " + std::to_string(*options.save_secs) + " s was due while the one of step " + std::to_string(saves.oldest())
                                  + " is still on its way; it is skipped");
      return arm(chief_wait::next_save, save_period());
    case chief_wait::max_secs:
      ending.remark = "stopped after training for " + shortest_text(*options.max_secs) + " s";
      return on_request({request::stop});
    case chief_wait::verdict:
      return respond(role::checkpoint_writer, trouble::hangs, waited_for(w, options.name));
    case chief_wait::reports:
      return ask_around();
    case chief_wait::answers:
      return fail_of_silence();
    case chief_wait::commit:
      return give_up_saves();
    case chief_wait::logs:
      return;  // What is not closed by now is not waited for.
    case chief_wait::gone:
      return finish();
    case chief_wait::halt:
      return on_unhalted();
    case chief_wait::back_off:
      return begin_attempt();
    case chief_wait::flush:
      return flushed_or_not();
    case chief_wait::news:
      return fail_now(*std::exchange(ending.announced, std::nullopt));
    case chief_wait::cut:
      // Replicas end at the step at hand, as at the end of the data; the batch of a read that blocks is not needed.
      if (horizon.idle() || !ending.goes_to(end_state::cut))
        return;
      if (options.stops_at_infeeds)
        tell_all<role::infeed>(stop{attempt});
      else
        tell_all<role::replica>(stop{attempt});
      return options.nodes->cancel_reads();
    case chief_wait::hooks:
      if (!ends())
        return respond(role::callbacks, trouble::hangs, waited_for(w, "callbacks"));
      ending.causes.add(error{errc::deadline_exceeded, options.name + " waited too long for " + text_of(w) + ": their last call was not made", {},
                       "callbacks", horizon.reached()});
      return now == phase::closing ? tell_end(false) : send_home();
    default: {
      const auto which = *evaluation_of(w);
      auto cause = waited_for(w, options.name);
      if (w == room_wait(which))
        return respond(role::eval_summary_writer, trouble::hangs, std::move(cause), which);
      lose_evaluator(which);
      return respond(role::evaluator, trouble::hangs, std::move(cause), which);
    }
  }
}

/// The wait as text, for errors.
std::string chief_state::text_of(chief_wait w) const {
  const auto step = [](std::optional<int64_t> s) { return std::to_string(s.value_or(0)); };
  const auto of = [](std::optional<checkpoint_id> id) { return to_string(id.value_or(checkpoint_id{})); };
  switch (w) {
    case chief_wait::start: return "the checkpoint writer to restore the newest checkpoint to the replicas";
    case chief_wait::commit: return "the commit of step " + step(saves.any() ? std::optional{saves.oldest()} : std::nullopt);
    case chief_wait::hooks:
      if (ends())
        return "the hooks to see the end";
      if (now == phase::restoring)
        return "the hooks to begin";
      if (const auto gate = gates.awaited())
        return "a hook's answer at step " + step(gate);
      return "the hooks, which are " + std::to_string(facts.unanswered()) + " facts behind at step " + step(horizon.reached());
    case chief_wait::verdict: return "the verdict on the checkpoint of step " + of(saves.last_commit()) + " to be kept";
    case chief_wait::reports: return "a report of step " + step(horizon.reached());
    case chief_wait::answers:
    case chief_wait::next_save:
    case chief_wait::max_secs:
    case chief_wait::flush:
    case chief_wait::news:
    case chief_wait::cut:
    case chief_wait::halt:
    case chief_wait::back_off:
    case chief_wait::logs:
    case chief_wait::gone: return "an answer";  // The errors that follow from these waits are more specific.
    default: break;
  }
  const auto which = *evaluation_of(w);
  const auto& name = evaluations.settings(which).name;
  const auto which_one = "the evaluation " + (name.empty() ? "" : "'" + name + "' ") + "of step ";
  if (const auto* asked = w == rule_wait(which) ? questions.asked_of(which) : nullptr)
    return "the predicate of the rule '" + to_text(judgements.rule(asked->what.rule)) + "'";
  if (w == evaluation_wait(which))
    return which_one + of(evaluations.at(which).running());
  return "the results of " + which_one + of(evaluations.at(which).last()) + " to be written";
}

error chief_state::waited_for(chief_wait w, std::string source) const {
  return {errc::deadline_exceeded, options.name + " waited too long for " + text_of(w), {}, std::move(source), horizon.reached()};
}

std::chrono::milliseconds chief_state::save_period() const {
  // Clamped so that no setting makes the timer spin or a clock overflow.
  return std::chrono::milliseconds(static_cast<int64_t>(std::clamp(options.save_secs.value_or(600), 0.01, 3e7) * 1000));
}

}  // namespace troupe
