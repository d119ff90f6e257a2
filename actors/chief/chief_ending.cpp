// The chief when something went wrong, and when everyone is sent home.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"
#include "actors/exit_reason.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- failures -----------------------------------------------------------------------------------

/// By the table of failures.hpp.
void chief_state::respond(role who, trouble what, error cause) {
  switch (response_to(who, what)) {
    case response::save_and_fail: return fail_after_save(std::move(cause));
    case response::replace_and_fail: return replace_writer(std::move(cause));
    case response::settle_and_fail: return fail_now(std::move(cause));
    case response::by_policy: return options.evaluator_may_fail ? lose_evaluator(std::move(cause)) : fail_after_save(std::move(cause));
  }
}

void chief_state::on_failure(const failure& x) {
  if (!ends())
    return respond(x.from, trouble::throws, x.what);
  if (is_heard_at_the_end(x.from))
    causes.add(x.what);  // A hook's last call failed, or the last write of an event file: the job ends as that.
}

/// Training goes on without evaluations.
void chief_state::lose_evaluator(error cause) {
  for (const auto& m : nodes.members())
    if (m.what == role::evaluator && m.handle) {  // It hangs, and is told to end when it comes back.
      options.nodes->end(m.id);
      nodes.ended(m.id);
      break;
    }
  newest_unevaluated.reset();
  disarm(wait_evaluation);
  disarm(wait_eval_room);
  publish({.what = job_event::kind::warning, .step = reached, .text = to_string(cause)});
  commit_gates.clear();
  extend();
  check_end();
}

/// The replicas report the same cause at its step, after all that precedes it: so it is waited for, unless nobody gets there.
void chief_state::on_input_failed(const input_failed& x) {
  if (x.attempt != attempt || ends() || (cut && x.cause.category == errc::cancelled))
    return;
  if (failing == failing::settling)
    return x.cause.category == errc::cancelled ? void() : causes.add(x.cause);  // Its reads were cancelled.
  if (!trains() || x.step <= reached)
    return fail_now(x.cause);
  if (announced && *announced->step <= x.step)
    return;
  announced = x.cause;
  announced->step = x.step;
  arm(wait_news, options.deadlines.stop, "");
}

void chief_state::on_input_warned(const input_warned& x) {
  if (x.attempt != attempt || ends())
    return;
  if (trains())
    publish({.what = job_event::kind::warning, .step = reached, .text = x.text});
  else
    restore_warnings.push_back(x.text);
}

void chief_state::on_down(const caf::down_msg& x) {
  const auto* found = nodes.find(x.source);
  if (!found)
    return;
  const member who = *found;
  nodes.ended(who.id);
  error cause{category_of(x.reason), who.name + " ended: " + describe(x.reason), {}, who.name, reached};
  if (ends()) {
    if (who.what == role::callbacks) {
      if (!hooks_done && !sent_home)
        causes.add(std::move(cause));
      send_home();
    }
    return check_gone();
  }
  switch (who.what) {
    case role::evaluator:
      if (evaluating)
        self->send(writer(), unlease{*evaluating});
      evaluating.reset();
      break;
    case role::callbacks:
      disarm(wait_hooks);
      break;
    case role::summary_writer:
      unbooked = saving;  // What it should have passed on went with it; a book that comes twice does no harm.
      if (failing != failing::no)
        send_books_up_to(until);
      break;
    case role::outfeed:
      tell_all<role::replica>(connect_reports{caf::actor_cast<caf::strong_actor_ptr>(self)});
      fail_after_save(std::move(cause));
      return std::exchange(flushing, false) ? settle_saves() : void();
    case role::infeed:
    case role::replica:
      self->send(writer(), gone{attempt, who.id});
      return flush_then_settle(std::move(cause));
    case role::reducer:
      return flush_then_settle(std::move(cause));
    default:
      break;
  }
  respond(who.what, trouble::dies, std::move(cause));
}

/// No later step can be made, so no later state can be saved. What the outfeed holds may name the cause; it is heard before
/// anything is decided.
void chief_state::flush_then_settle(error cause) {
  causes.add(std::move(cause));
  if (failing == failing::settling || flushing)
    return;
  options.nodes->cancel();
  if (!outfeed())
    return settle_saves();
  flush_outfeed();
}

void chief_state::flush_outfeed() {
  flushing = true;
  self->send(outfeed(), flush{++flushes});
  arm(wait_flush, options.deadlines.stop, "");
}

void chief_state::on_flushed(const flushed& x) {
  if (x.number != flushes || ends() || !flushing)
    return;
  flushing = false;
  if (saving.empty() && failing != failing::no)
    return end();
  settle_saves();
}

void chief_state::fail_now(error cause) {
  causes.add(std::move(cause));
  if (!ends() && !flushing)
    settle_saves();
}

/// Whoever holds parts of a snapshot says that no more come: so the checkpoint writer knows of each whether it can still be
/// complete. Nothing is waited for that cannot be.
void chief_state::settle_saves() {
  if (failing == failing::settling)
    return;
  failing = failing::settling;
  options.nodes->cancel();
  for (const auto w : {wait_start, wait_silence, wait_save, wait_hooks, wait_next_save, wait_flush, wait_evaluation, wait_news, wait_cut, wait_answers})
    disarm(w);
  newest_unevaluated.reset();
  // The books of a state go the way of its summaries, whose reports are in up to here.
  saving.erase(saving.upper_bound(outfeed() ? reached : until), saving.end());
  send_books_up_to(outfeed() ? reached : until);
  unbooked.clear();
  if (!writer() || saving.empty() || now == phase::starting || now == phase::restoring)
    return end();
  now = phase::draining;
  end_at = reached;
  self->send(writer(), abandon{attempt, *saving.rbegin()});
  tell_all<role::infeed>(halt{attempt});
  tell_all<role::replica>(halt{attempt});
  self->send(writer(), settle{attempt, {saving.begin(), saving.end()}});
  await_saves();
}

void chief_state::give_up_saves() {
  const auto what = waiting.what(wait_save);
  if (writer() && !saving.empty() && !std::exchange(overdue, true)) {  // Which part is missing?
    self->send(writer(), abandon{attempt, *saving.begin(), true});
    return arm(wait_save, options.deadlines.stop, what);
  }
  // The writer does not answer any more; there is nothing left to wait for.
  saving.clear();
  fail_now(error{errc::deadline_exceeded, options.name + " waited too long for " + what, {}, options.name, reached});
  check_end();
}

void chief_state::fail_after_save(error cause) {
  causes.add(std::move(cause));
  if (ends() || failing != failing::no)
    return;
  if (!trains())
    return end();
  failing = failing::saving;
  commit_gates.clear();
  hook_gates.clear();
  gates_told.clear();
  newest_unevaluated.reset();
  if (!options.checkpoints || !writer())
    return end();
  for (const auto w : {wait_silence, wait_answers, wait_hooks, wait_next_save, wait_evaluation})
    disarm(w);
  send_books_up_to(until);  // Reports may not come any more, nor their records be written: the model is saved all the same.
  drain(until, false);
  if (!ends())
    cut_short();
}

void chief_state::replace_writer(error cause) {
  if (std::exchange(writer_replaced, true) || failing != failing::no || !trains()) {
    causes.add(std::move(cause));
    return end();  // Nothing can be saved any more.
  }
  const auto id = nodes.id_of(role::checkpoint_writer);
  nodes.started(id, options.nodes->start(id, caf::actor_cast<caf::strong_actor_ptr>(self)));
  self->monitor(writer());
  self->send(writer(), restore{attempt, false});  // Before any part.
  options.nodes->connect(id);
  saving.clear();  // Their parts went with the old one; the last save takes their place.
  unbooked.clear();
  disarm(wait_save);
  fail_after_save(std::move(cause));
}

// -- ending ---------------------------------------------------------------------------------------

void chief_state::end() {
  if (ends())
    return;
  publish_held();
  for (const auto& [step, x] : held) {  // Committed all the same, and not told: the reports below them did not come.
    committed_at = step;
    checkpoint = x.prefix;
  }
  now = phase::ending;
  waiting.disarm_all();
  job_event last{.what = job_event::kind::finished, .step = reached, .max_steps = end_at, .loss = loss, .metrics = metrics, .text = remark};
  if (!causes.empty()) {
    last.what = job_event::kind::failed;
    last.failure = causes.root();
  } else if (stopping && !end_is_final) {
    last.what = job_event::kind::stopped;
  }
  last.seconds = seconds();
  if (last.metrics.empty() && reached > start_step)
    last.metrics = training_metrics();
  options.board->event(last);
  if (!callbacks())
    return send_home();
  if (causes.empty())
    tell_progress();
  fact f;
  f.what = fact::end_at;
  f.at = reached;
  f.news = std::move(last);
  tell(std::move(f));
}

/// Where nothing was evaluated.
std::map<std::string, double> chief_state::training_metrics() const {
  std::map<std::string, double> all{{"loss", last_loss}};
  for (const auto& [group, mean] : losses_of_groups)
    all["loss/" + group] = mean;
  return all;
}

void chief_state::send_home() {
  if (std::exchange(sent_home, true))
    return;
  for (const auto what : {role::infeed, role::replica, role::reducer, role::outfeed, role::evaluator, role::callbacks, role::checkpoint_writer})
    for (const auto& m : nodes.members())
      if (m.what == what)
        options.nodes->end(m.id);
  tell_all<role::summary_writer>(finish_log{});  // They end by themselves, when all is written.
  tell_all<role::eval_summary_writer>(finish_log{});
  options.nodes->cancel();  // Whoever is still inside a long step or a read has nothing left to do it for.
  waiting.disarm_all();
  arm(wait_stop, options.deadlines.stop, "");
  check_gone();
}

void chief_state::check_gone() {
  if (!nodes.any_alive())
    finish();
}

void chief_state::finish() {
  if (now == phase::finished || now == phase::failed)
    return;
  now = causes.empty() ? phase::finished : phase::failed;
  show_status();
  if (causes.empty()) {
    train_result result{reached, reached - start_step, metrics, seconds(), stopping && !end_is_final, checkpoint, remark};
    if (result.metrics.empty() && reached > start_step)
      result.metrics = training_metrics();
    if (nodes.any_alive()) {
      std::string names;
      for (const auto& who : nodes.members())
        if (who.handle)
          names += (names.empty() ? "" : ", ") + who.name;
      result.remark += (result.remark.empty() ? "" : "; ") + names + " did not end in time";
    }
    options.board->finished(std::move(result));
  } else {
    auto cause = causes.root();
    for (const auto& who : nodes.members())
      if (who.handle)
        cause.notes.push_back(who.name + " did not end in time");
    options.board->finished(tl::unexpected<error>(std::move(cause)));
  }
  self->quit();
}

}  // namespace troupe
