// The chief when something went wrong, and when everyone is sent home.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"
#include "actors/exit_reason.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

/// What fails after the user has given up is a consequence.
void chief_state::add_cause(error cause) {
  if (std::find(causes.begin(), causes.end(), cause) != causes.end())
    return;  // It came by another way before.
  if (aborted)
    causes.back().notes.push_back(to_string(cause));
  else
    causes.push_back(std::move(cause));
}

void chief_state::on_failure(const error& cause) {
  if (ending_said) {
    if (is_beside_training(cause.source))
      add_cause(cause);  // A hook's last call failed, or the last write of an event file: the job ends as that.
    return;
  }
  // A hook, a host call or an event file that fails leaves the model healthy: its state is saved first.
  if (is_beside_training(cause.source))
    return fail_after_save(cause);
  fail_now(cause);
}

/// The replicas report the same cause at its step, after all that precedes it: so it is waited for, unless nobody gets there.
void chief_state::on_input_failed(const input_failed& x) {
  if (x.attempt != attempt || ending_said || (cut && x.cause.category == errc::cancelled))
    return;
  if (failing == failing::settling)
    return x.cause.category == errc::cancelled ? void() : add_cause(x.cause);  // Its reads were cancelled.
  if ((now != phase::training && now != phase::draining) || x.step <= reached)
    return fail_now(x.cause);
  if (foretold && *foretold->step <= x.step)
    return;
  foretold = x.cause;
  foretold->step = x.step;
  arm(wait_news, options.deadlines.stop, "");
}

void chief_state::on_input_warned(const input_warned& x) {
  if (x.attempt != attempt || ending_said)
    return;
  if (now == phase::training || now == phase::draining)
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
  if (ending_said) {
    if (who.what == role::callbacks) {
      if (!hooks_done && !sent_home)
        add_cause(std::move(cause));
      send_home();
    }
    return check_gone();
  }
  switch (who.what) {
    case role::checkpoint_writer: return replace_writer(who.id, std::move(cause));
    case role::evaluator:
      if (evaluating)
        self->send(writer(), unlease{*evaluating});
      evaluating.reset();
      if (!options.evaluator_may_fail)
        return fail_after_save(std::move(cause));
      newest_unevaluated.reset();
      disarm(wait_evaluation);
      publish({.what = job_event::kind::warning, .step = reached, .text = to_string(cause)});
      commit_gates.clear();
      extend();
      return check_end();
    case role::callbacks:
      disarm(wait_hooks);
      return fail_after_save(std::move(cause));
    case role::summary_writer:
      unbooked = saving;  // What it should have passed on went with it; a book that comes twice does no harm.
      if (failing != failing::no)
        send_books_up_to(until);
      return fail_after_save(std::move(cause));
    case role::eval_summary_writer:
      return fail_after_save(std::move(cause));
    case role::outfeed:
      tell_all<role::replica>(connect_reports{caf::actor_cast<caf::strong_actor_ptr>(self)});
      fail_after_save(std::move(cause));
      return std::exchange(flushing, false) ? settle_saves() : void();
    case role::infeed:
    case role::replica:
      self->send(writer(), gone{attempt, who.id});
      break;
    default:
      break;
  }
  // No later step can be made, so no later state can be saved. What the outfeed holds may name the cause; it is heard before
  // anything is decided.
  add_cause(std::move(cause));
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
  if (x.number != flushes || ending_said || !flushing)
    return;
  flushing = false;
  if (saving.empty() && failing != failing::no)
    return end();
  settle_saves();
}

void chief_state::fail_now(error cause) {
  add_cause(std::move(cause));
  if (!ending_said && !flushing)
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
  add_cause(std::move(cause));
  if (ending_said || failing != failing::no)
    return;
  if (now != phase::training && now != phase::draining)
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
  if (!ending_said)
    cut_short();
}

void chief_state::replace_writer(node_id id, error cause) {
  if (std::exchange(writer_replaced, true) || failing != failing::no || (now != phase::training && now != phase::draining)) {
    add_cause(std::move(cause));
    return end();  // Nothing can be saved any more.
  }
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
  if (ending_said)
    return;
  publish_held();
  for (const auto& [step, x] : held) {  // Committed all the same, and not told: the reports below them did not come.
    committed_at = step;
    checkpoint = x.prefix;
  }
  ending_said = true;
  waiting.disarm_all();
  job_event last{.what = job_event::kind::finished, .step = reached, .max_steps = end_at, .loss = loss, .metrics = metrics, .text = remark};
  if (!causes.empty()) {
    last.what = job_event::kind::failed;
    last.failure = root();
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

error chief_state::root() const {
  return aborted ? causes.back() : root_cause(causes);
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
    auto cause = root();
    for (const auto& who : nodes.members())
      if (who.handle)
        cause.notes.push_back(who.name + " did not end in time");
    options.board->finished(tl::unexpected<error>(std::move(cause)));
  }
  self->quit();
}

}  // namespace troupe
