#include "actors/chief.hpp"

#include "actors/decisions.hpp"
#include "actors/exit_reason.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- starting ------------------------------------------------------------------------------

void chief_state::start_crew() {
  started = self->clock().now();
  auto& nodes = *options.nodes;
  const auto me = caf::actor_cast<chief_actor>(self);
  const auto enlist = [this](const auto& handle, std::string who) {
    if (!handle)
      return;
    self->monitor(handle);
    alive.emplace(handle->address(), std::move(who));
  };
  writer = nodes.start_checkpoint_writer(me);
  enlist(writer, "checkpoint_writer");
  if (options.event_files && options.summary_steps > 0) {
    summaries = nodes.start_summary_writer(false, me);
    enlist(summaries, "summary_writer");
    self->send(summaries, connect_parts{caf::actor_cast<caf::strong_actor_ptr>(writer)});
  }
  if (options.event_files && options.evaluates) {
    eval_summaries = nodes.start_summary_writer(true, me);
    enlist(eval_summaries, "summary_writer/eval");
  }
  outfeed = nodes.start_outfeed(caf::actor_cast<progress_sink_actor>(self), summaries);
  enlist(outfeed, "outfeed");
  reducer = nodes.start_reducer();
  enlist(reducer, "reducer");
  const auto parts = options.checkpoints ? caf::actor_cast<part_sink_actor>(writer) : part_sink_actor{};
  for (int32_t r = 0; r < nodes.replicas(); ++r) {
    replicas.push_back(nodes.start_replica(r, {outfeed, parts, reducer}));
    enlist(replicas.back(), "replica/" + std::to_string(r));
  }
  for (int32_t i = 0; i < nodes.infeeds(); ++i) {
    infeeds.push_back(nodes.start_infeed(i, parts));
    enlist(infeeds.back(), "infeed/" + std::to_string(i));
    for (const auto& [edge, to] : nodes.edges_of(i)) {
      auto& reader = replicas[static_cast<size_t>(to)];
      self->send(infeeds.back(), connect{edge, caf::actor_cast<caf::strong_actor_ptr>(reader)});
      self->send(reader, connect{edge, caf::actor_cast<caf::strong_actor_ptr>(infeeds.back())});
    }
  }
  if (options.evaluates) {
    evaluator = nodes.start_evaluator(me);
    enlist(evaluator, "evaluator");
  }
  callbacks = nodes.start_callbacks(me);
  enlist(callbacks, "callbacks");
  self->send(writer, restore{attempt});
  arm(wait_start, options.deadlines.start, "the checkpoint writer to load the newest checkpoint");
  show_status();
}

void chief_state::on_restored(const restored& x) {
  if (now != phase::starting || x.attempt != attempt || ending_said)
    return;
  disarm(wait_start);
  now = phase::restoring;
  start_step = first_step = reached = until = x.step;
  if (const auto books = x.properties.find("first_step"); books != x.properties.end())
    first_step = std::strtoll(books->second.c_str(), nullptr, 10);
  if (x.found) {
    checkpoint = x.prefix;
    committed_at = x.step;
  }
  end_at = goal();
  end_is_final = end_at.has_value();
  restore_warnings = x.warnings;
  // A job that had finished begins its data anew; one that was interrupted goes on in them.
  const auto finished = x.properties.find("finished");
  const bool anew = finished != x.properties.end() && finished->second == "true";
  begin news{attempt, x.step, anew ? std::map<std::string, std::string>{} : x.blobs};
  self->send(outfeed, begin{attempt, x.step, {}});
  for (auto& r : replicas)
    self->send(r, begin{attempt, x.step, {}});
  for (auto& i : infeeds)
    self->send(i, news);
  if (!callbacks)
    return begin_training();
  fact first;
  first.what = fact::begin_at;
  first.at = x.step;
  self->send(callbacks, std::move(first));
  arm(wait_hooks, options.deadlines.hooks, "the hooks to begin");
}

std::optional<int64_t> chief_state::goal() const {
  std::optional<int64_t> goal = options.max_steps;
  if (options.steps) {
    int64_t end = 0;
    if (__builtin_add_overflow(start_step, *options.steps, &end))
      end = INT64_MAX;
    goal = std::min(goal.value_or(INT64_MAX), end);
  }
  return goal;
}

void chief_state::begin_training() {
  now = phase::training;
  publish({.what = job_event::kind::started, .step = start_step, .max_steps = end_at,
           .text = committed_at ? "resumed from " + checkpoint : "a fresh start"});
  for (const auto& w : restore_warnings)
    publish({.what = job_event::kind::warning, .step = start_step, .text = w});
  if (end_at && *end_at <= start_step) {
    remark = "nothing to train: " + (checkpoint.empty() ? "the job" : checkpoint) + " stands at step "
             + std::to_string(start_step) + " already, and max_steps is " + std::to_string(*end_at);
    end_at = start_step;
    if (options.evaluates && checkpoint.empty() == false) {
      now = phase::draining;
      newest_unevaluated = start_step;
      commit_gates.insert(start_step);
      return evaluate_next();
    }
    return end();
  }
  if (summaries)
    self->send(summaries, note{note::start, start_step, {}});
  // A step-0 checkpoint at a fresh start; a resumed run verifies and re-lists the one it came from.
  std::vector<mark> first;
  if (options.checkpoints) {
    place_save(start_step);
    first.push_back({start_step, mark_snapshot});
  }
  if (const auto kinds = marks_at(start_step) & mark_watch; kinds != 0)
    first.push_back({start_step, static_cast<uint8_t>(kinds)});
  grant(start_step, std::move(first));
  if (options.save_secs && options.checkpoints)
    arm(wait_timer, save_period(), "");
  if (stopping)
    return drain(until, false);
  extend();
}

// -- requests and waits ----------------------------------------------------------------------

void chief_state::on_request(const request& x) {
  if (now == phase::finished || now == phase::failed || ending_said)
    return;
  if (x.what == request::save) {
    if (!options.checkpoints || now != phase::training)
      return;
    if (saving.empty())
      mark_here(mark_snapshot);
    else
      save_again = true;
    return;
  }
  if (x.what == request::abort) {
    causes.push_back(error{errc::cancelled, "the job was aborted", {}, options.name, reached});
    options.nodes->cancel();
    return end();
  }
  stopping = true;
  by_signal = by_signal || x.by_signal;
  if (by_signal && evaluating && !std::exchange(cancelled_evaluation, true))
    self->send(evaluator, request{request::stop});
  if (now == phase::training)
    drain(until, false);
}

void chief_state::arm(wait w, std::chrono::milliseconds after, std::string what) {
  wait_what[w] = std::move(what);
  self->delayed_send(self, after, deadline{++wait_number[w], w});
}

void chief_state::on_deadline(const deadline& x) {
  if (x.what < 0 || x.what >= wait_kinds || x.number != wait_number[x.what])
    return;
  const auto w = static_cast<wait>(x.what);
  if (w == wait_timer) {
    if (now == phase::training) {
      if (saving.empty())
        mark_here(mark_snapshot);
      else if (skipped_for != *saving.begin() && (skipped_for = *saving.begin(), true))
        publish({.what = job_event::kind::warning, .step = reached,
                 .text = "a save every " + std::to_string(*options.save_secs) + " s was due while the one of step "
                         + std::to_string(*saving.begin()) + " is still on its way; it is skipped"});
      arm(wait_timer, save_period(), "");
    }
    return;
  }
  if (w == wait_save && !saving.empty() && *saving.begin() <= reached && !wait_what[w].ends_with("at last")) {
    self->send(writer, abandon{attempt, *saving.begin(), true});
    arm(wait_save, options.deadlines.stop, wait_what[w] + " at last");
    return;
  }
  if (w == wait_save)
    last_saves_awaited = true;  // The writer does not answer any more; there is nothing left to wait for.
  if (w == wait_stop)
    return sent_home ? finish() : send_home();  // Hooks that take too long at the end hold nobody else up.
  if (w == wait_flush) {
    flushes = 0;
    return on_flushed({0});
  }
  fail_now(error{errc::deadline_exceeded, options.name + " waited too long for " + wait_what[w], {}, options.name, reached});
}

std::chrono::milliseconds chief_state::save_period() const {
  // Bounded so that no setting makes the timer spin, or a clock overflow.
  return std::chrono::milliseconds(static_cast<int64_t>(std::clamp(options.save_secs.value_or(600), 0.01, 3e7) * 1000));
}

// -- what others are shown ----------------------------------------------------------------------

double chief_state::seconds() const {
  return std::chrono::duration<double>(const_cast<chief_state*>(this)->self->clock().now() - started).count();
}

void chief_state::publish(job_event e) {
  e.seconds = seconds();
  options.board->event(e);
  if (!callbacks)
    return;
  fact f;
  f.what = fact::event;
  f.at = e.step;
  f.news = std::move(e);
  self->send(callbacks, std::move(f));
}

void chief_state::show_status() {
  options.board->status({now, reached, end_at, loss, seconds_per_step > 0 ? 1 / seconds_per_step : 0,
                         committed_at.value_or(-1), metrics});
}

chief_actor::behavior_type chief(chief_actor::stateful_pointer<chief_state> self, chief_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_down(x); });
  state.start_crew();
  return {
    [&state](const restored& x) { state.on_restored(x); },
    [&state](const progress& x) { state.on_progress(x); },
    [&state](const stream_end& x) { state.on_stream_end(x); },
    [&state](const failure& x) { state.on_failure(x.what); },
    [&state](const flushed& x) { state.on_flushed(x); },
    [&state](const committed& x) { state.on_committed(x); },
    [&state](const save_failed& x) { state.on_save_failed(x); },
    [&state](const evaluated& x) { state.on_evaluated(x); },
    [&state](const answered& x) { state.on_answered(x); },
    [&state](const request& x) { state.on_request(x); },
    [&state](const deadline& x) { state.on_deadline(x); },
  };
}

}  // namespace troupe
