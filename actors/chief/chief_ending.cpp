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
    case response::by_policy:
      return options.on_evaluator_failure == failure_policy::go_on ? lose_evaluator(std::move(cause)) : fail_after_save(std::move(cause));
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
  evaluations.drop_waiting();
  disarm(chief_wait::evaluation);
  disarm(chief_wait::eval_room);
  warn(horizon.reached(), to_string(cause));
  gates.evaluations_lost(saves.committed_at());
  extend();
  check_end();
}

/// The replicas report the same cause at its step, after all that precedes it: so it is waited for, unless nobody gets there.
void chief_state::on_input_failed(const input_failed& x) {
  if (x.attempt != attempt || ends() || (ending.cut && x.cause.category == errc::cancelled))
    return;
  if (ending.failing == failing::settling)
    return x.cause.category == errc::cancelled ? void() : causes.add(x.cause);  // Its reads were cancelled.
  if (!trains() || x.step <= horizon.reached())
    return fail_now(x.cause);
  if (ending.announced && *ending.announced->step <= x.step)
    return;
  ending.announced = x.cause;
  ending.announced->step = x.step;
  arm(chief_wait::news, options.deadlines.stop);
}

void chief_state::on_input_warned(const input_warned& x) {
  if (x.attempt != attempt || ends())
    return;
  if (trains())
    warn(horizon.reached(), x.text);
  else
    restore_warnings.push_back(x.text);
}

void chief_state::on_down(const caf::down_msg& x) {
  const auto* found = nodes.find(x.source);
  if (!found)
    return;
  const member who = *found;
  nodes.ended(who.id);
  error cause{category_of(x.reason), who.name + " ended: " + describe(x.reason), {}, who.name, horizon.reached()};
  if (ends()) {
    if (who.what == role::callbacks) {
      if (!ending.hooks_done && !ending.sent_home)
        causes.add(std::move(cause));
      send_home();
    }
    return check_gone();
  }
  switch (who.what) {
    case role::evaluator:
      lose_evaluation();
      break;
    case role::callbacks:
      disarm(chief_wait::hooks);
      break;
    case role::summary_writer:
      saves.books_lost();
      if (ending.fails())
        send_books_up_to(horizon.until());
      break;
    case role::outfeed:
      tell_all<role::replica>(connect_reports{self});
      fail_after_save(std::move(cause));
      return std::exchange(ending.flushing, false) ? settle_saves() : void();
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
  if (ending.failing == failing::settling || ending.flushing)
    return;
  options.nodes->cancel();
  if (!outfeed())
    return settle_saves();
  flush_outfeed();
}

void chief_state::flush_outfeed() {
  ending.flushing = true;
  self->send(outfeed(), flush{++flushes});
  arm(chief_wait::flush, options.deadlines.stop);
}

void chief_state::on_flushed(const flushed& x) {
  if (x.number != flushes || ends() || !ending.flushing)
    return;
  ending.flushing = false;
  if (!saves.any() && ending.fails())
    return end();
  settle_saves();
}

void chief_state::fail_now(error cause) {
  causes.add(std::move(cause));
  if (!ends() && !ending.flushing)
    settle_saves();
}

/// Whoever holds parts of a snapshot says that no more come: so the checkpoint writer knows of each whether it can still be
/// complete. Nothing is waited for that cannot be.
void chief_state::settle_saves() {
  if (ending.failing == failing::settling)
    return;
  ending.failing = failing::settling;
  options.nodes->cancel();
  for (const auto w : {chief_wait::start, chief_wait::reports, chief_wait::commit, chief_wait::hooks, chief_wait::next_save, chief_wait::flush,
                       chief_wait::evaluation, chief_wait::news, chief_wait::cut, chief_wait::answers})
    disarm(w);
  evaluations.drop_waiting();
  // The books of a state go the way of its summaries, whose reports are in up to here.
  const auto kept = outfeed() ? horizon.reached() : horizon.until();
  send_books_up_to(kept);
  saves.cancel_above(kept);
  if (!writer() || !saves.any() || now == phase::starting || now == phase::restoring)
    return end();
  now = phase::draining;
  horizon.end_at(horizon.reached(), horizon.end_is_final());
  self->send(writer(), abandon{attempt, saves.newest()});
  tell_all<role::infeed>(halt{attempt});
  tell_all<role::replica>(halt{attempt});
  self->send(writer(), settle{attempt, saves.steps()});
  await_saves();
}

void chief_state::give_up_saves() {
  auto cause = waited_for(chief_wait::commit, options.name);
  if (writer() && saves.may_inquire()) {  // Which part is missing?
    self->send(writer(), name_missing{attempt, saves.oldest()});
    return arm(chief_wait::commit, options.deadlines.stop);
  }
  // The writer does not answer any more; there is nothing left to wait for.
  saves.cancel_all();
  fail_now(std::move(cause));
  check_end();
}

void chief_state::fail_after_save(error cause) {
  causes.add(std::move(cause));
  if (ends() || ending.fails())
    return;
  if (!trains())
    return end();
  ending.failing = failing::saving;
  gates.open_all();
  evaluations.drop_waiting();
  if (!options.checkpoints || !writer())
    return end();
  for (const auto w : {chief_wait::reports, chief_wait::answers, chief_wait::hooks, chief_wait::next_save, chief_wait::evaluation})
    disarm(w);
  send_books_up_to(horizon.until());  // Reports may not come any more, nor their records be written: the model is saved all the same.
  drain(horizon.until(), false);
  if (!ends())
    cut_short();
}

void chief_state::replace_writer(error cause) {
  if (std::exchange(writer_replaced, true) || ending.fails() || !trains()) {
    causes.add(std::move(cause));
    return end();  // Nothing can be saved any more.
  }
  const auto id = nodes.id_of(role::checkpoint_writer);
  nodes.started(id, options.nodes->start(id, caf::actor_cast<caf::strong_actor_ptr>(self)));
  self->monitor(writer());
  self->send(writer(), stand_in{attempt});  // Before any part.
  options.nodes->connect(id);
  saves.cancel_all();  // Their parts went with the old one; the last save takes their place.
  disarm(chief_wait::commit);
  fail_after_save(std::move(cause));
}

// -- ending ---------------------------------------------------------------------------------------

void chief_state::end() {
  if (ends())
    return;
  publish_commits();
  saves.count_held();
  now = phase::ending;
  waiting.disarm_all();
  const auto reached = horizon.reached();
  job_event last{.what = job_event::kind::finished, .step = reached, .max_steps = horizon.end(), .loss = losses.mean, .metrics = metrics,
                 .text = ending.remark};
  if (!causes.empty()) {
    last.what = job_event::kind::failed;
    last.failure = causes.root();
  } else if (ending.stopping && !horizon.end_is_final()) {
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
  std::map<std::string, double> all{{"loss", losses.last}};
  for (const auto& [group, mean] : losses.of_groups)
    all["loss/" + group] = mean;
  return all;
}

void chief_state::send_home() {
  if (std::exchange(ending.sent_home, true))
    return;
  for (const auto what : {role::infeed, role::replica, role::reducer, role::outfeed, role::evaluator, role::callbacks, role::checkpoint_writer})
    for (const auto& m : nodes.members())
      if (m.what == what)
        options.nodes->end(m.id);
  tell_all<role::summary_writer>(finish_log{});  // They end by themselves, when all is written.
  tell_all<role::eval_summary_writer>(finish_log{});
  options.nodes->cancel();  // Whoever is still inside a long step or a read has nothing left to do it for.
  waiting.disarm_all();
  arm(chief_wait::gone, options.deadlines.stop);
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
    const auto reached = horizon.reached();
    train_result result{reached, reached - start_step, metrics, seconds(), ending.stopping && !horizon.end_is_final(), saves.prefix(), ending.remark};
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
