// The chief when something went wrong, and when everyone is sent home.
#include "actors/chief.hpp"
#include "actors/decisions.hpp"
#include "actors/exit_reason.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void chief_state::on_failure(const error& cause) {
  if (ending_said) {
    if (is_beside_training(cause.source))
      causes.push_back(cause);  // A hook's last call failed, or the last write of an event file: the job ends as that.
    return;
  }
  // A hook, a host call or an event file that fails leaves the model healthy: its state is saved first.
  if ((now == phase::training || now == phase::draining) && is_beside_training(cause.source))
    return fail_after_save(cause);
  fail_now(cause);
}

void chief_state::on_down(const caf::down_msg& x) {
  const auto node = alive.find(x.source);
  if (node == alive.end())
    return;
  const std::string who = node->second;
  alive.erase(node);
  if (ending_said) {
    if (who == "callbacks") {
      callbacks = callbacks_actor{};
      send_home();
    }
    return check_gone();
  }
  error cause{errc::aborted, who + " ended: " + describe(x.reason), {}, who, reached};
  if (who == "checkpoint_writer") {
    writer = checkpoint_writer_actor{};
    return replace_writer(std::move(cause));
  }
  if (who == "evaluator") {
    evaluator = evaluator_actor{};
    if (evaluating)
      commit_gates.erase(*std::exchange(evaluating, std::nullopt));
    if (!options.evaluator_may_fail)
      return fail_after_save(std::move(cause));
    options.evaluates = false;
    publish({.what = job_event::kind::warning, .step = reached, .text = to_string(cause)});
    commit_gates.clear();
    extend();
    return check_end();
  }
  if (who == "callbacks") {
    callbacks = callbacks_actor{};
    hook_gates.clear();
    return fail_after_save(std::move(cause));
  }
  if (who.starts_with("summary_writer")) {
    (who == "summary_writer" ? summaries : eval_summaries) = summary_writer_actor{};
    if (who == "summary_writer")
      unbooked = saving;  // What it should have passed on went with it; a book that comes twice does no harm.
    return fail_after_save(std::move(cause));
  }
  if (who == "outfeed") {
    outfeed = outfeed_actor{};
    return fail_after_save(std::move(cause));
  }
  // A replica, an infeed or the reducer: no later step can be made, so no later state can be saved. What the outfeed
  // holds may name the cause; it is heard before anything is decided.
  causes.push_back(std::move(cause));
  options.nodes->cancel();
  if (!outfeed)
    return end_after_saves();
  if (flushes == 0) {
    self->send(outfeed, flush{++flushes});
    arm(wait_flush, options.deadlines.stop, "the outfeed to pass on what it holds");
  }
}

void chief_state::on_flushed(const flushed& x) {
  if (x.number != flushes || ending_said)
    return;
  disarm(wait_flush);
  end_after_saves();
}

void chief_state::fail_now(error cause) {
  causes.push_back(std::move(cause));
  if (ending_said)
    return;
  options.nodes->cancel();
  end_after_saves();
}

void chief_state::end_after_saves() {
  // Snapshots whose step was reported have all their parts at the writer already: they are worth waiting for. The others
  // will never be complete.
  saving.erase(saving.upper_bound(reached), saving.end());
  unbooked.clear();
  if (std::exchange(last_saves_awaited, true) || !writer || saving.empty() || now == phase::starting || now == phase::restoring)
    return end();
  self->send(writer, abandon{attempt, reached});
  now = phase::draining;
  end_at = reached;
  disarm(wait_silence);
  arm(wait_save, options.deadlines.save, "the commit of step " + std::to_string(*saving.begin()) + " at last");
}

void chief_state::fail_after_save(error cause) {
  causes.push_back(std::move(cause));
  if (ending_said)
    return;
  if (now != phase::training && now != phase::draining)
    return end();
  commit_gates.clear();
  hook_gates.clear();
  newest_unevaluated.reset();
  while (!held.empty())  // Their reports may never come; they are committed all the same.
    deal_with(held.extract(held.begin()).mapped());
  if (!options.checkpoints || !writer)
    return end();
  disarm(wait_silence);  // Without an outfeed there are no reports to wait for.
  send_books_up_to(until);
  drain(until, false);
  if (!ending_said)
    arm(wait_save, options.deadlines.save, "the last save, at step " + std::to_string(until));
}

void chief_state::replace_writer(error cause) {
  if (std::exchange(writer_replaced, true) || (now != phase::training && now != phase::draining))
    return fail_now(std::move(cause));
  writer = options.nodes->start_checkpoint_writer(caf::actor_cast<chief_actor>(self));
  self->monitor(writer);
  alive.emplace(writer->address(), "checkpoint_writer");
  self->send(writer, restore{attempt, false});
  const connect_parts news{caf::actor_cast<caf::strong_actor_ptr>(writer)};
  for (auto& r : replicas)
    self->send(r, news);
  for (auto& i : infeeds)
    self->send(i, news);
  if (summaries)
    self->send(summaries, news);
  saving.clear();  // Their parts went with the old one; the last save takes their place.
  fail_after_save(std::move(cause));
}

// -- ending ---------------------------------------------------------------------------------------

void chief_state::end() {
  if (std::exchange(ending_said, true))
    return;
  for (int32_t w = 0; w < wait_kinds; ++w)
    disarm(static_cast<wait>(w));
  job_event last{.what = job_event::kind::finished, .step = reached, .max_steps = end_at, .loss = loss, .metrics = metrics, .text = remark};
  if (!causes.empty()) {
    last.what = job_event::kind::failed;
    last.failure = root_cause(causes);
  } else if (stopping && !end_is_final) {
    last.what = job_event::kind::stopped;
  }
  last.seconds = seconds();
  if (last.metrics.empty() && reached > start_step)
    last.metrics = {{"loss", last_loss}};
  options.board->event(last);
  if (!callbacks)
    return send_home();
  fact f;
  f.what = fact::end_at;
  f.at = reached;
  f.news = std::move(last);
  self->send(callbacks, std::move(f));
  self->delayed_send(self, options.deadlines.hooks, deadline{++wait_number[wait_stop], wait_stop});
}

void chief_state::send_home() {
  if (std::exchange(sent_home, true))
    return;
  const auto home = [this](const auto& handle) {
    if (handle)
      self->send_exit(handle, caf::exit_reason::user_shutdown);
  };
  for (auto& i : infeeds)
    home(i);
  for (auto& r : replicas)
    home(r);
  home(reducer);
  home(outfeed);
  home(evaluator);
  home(callbacks);
  home(writer);
  for (auto& log : {summaries, eval_summaries})
    if (log)
      self->send(log, finish_log{});  // They end by themselves, when all is written.
  options.nodes->cancel();  // Whoever is still inside a long step or a read has nothing left to do it for.
  self->delayed_send(self, options.deadlines.stop, deadline{++wait_number[wait_stop], wait_stop});
  check_gone();
}

void chief_state::check_gone() {
  if (alive.empty())
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
      result.metrics["loss"] = last_loss;
    if (!alive.empty()) {
      std::string names;
      for (const auto& [address, who] : alive)
        names += (names.empty() ? "" : ", ") + who;
      result.remark += (result.remark.empty() ? "" : "; ") + names + " did not end in time";
    }
    options.board->finished(std::move(result));
  } else {
    auto cause = root_cause(causes);
    for (const auto& [address, who] : alive)
      cause.notes.push_back(who + " did not end in time");
    options.board->finished(tl::unexpected<error>(std::move(cause)));
  }
  self->quit();
}

}  // namespace troupe
