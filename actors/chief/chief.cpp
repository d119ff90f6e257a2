#include "actors/chief/chief.hpp"

#include "actors/chief/decisions.hpp"
#include "actors/exit_reason.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- starting ------------------------------------------------------------------------------

void chief_state::start_crew() {
  started = self->clock().now();
  nodes = start_all(*options.nodes, *self);
  self->send(writer(), restore{attempt});
  arm(wait_start, options.deadlines.start, "the checkpoint writer to load the newest checkpoint");
  show_status();
}

void chief_state::on_restored(const restored& x) {
  if (now != phase::starting || x.attempt != attempt || ends())
    return;
  disarm(wait_start);
  now = phase::restoring;
  start_step = first_step = reached = until = progress_told = x.step;
  if (const auto books = x.properties.find("first_step"); books != x.properties.end())
    first_step = std::strtoll(books->second.c_str(), nullptr, 10);
  if (x.found) {
    checkpoint = x.prefix;
    committed_at = x.step;
  }
  end_at = goal();
  end_is_final = end_at.has_value();
  restore_warnings.insert(restore_warnings.begin(), x.warnings.begin(), x.warnings.end());
  // A job that had finished begins its data anew; one that was interrupted goes on in them.
  const auto finished = x.properties.find("finished");
  data_anew = finished != x.properties.end() && finished->second == "true";
  if (x.found && !data_anew)
    if (auto known = check_positions(x.prefix, x.blobs, static_cast<int32_t>(nodes.count(role::infeed))); !known)
      return fail_now(known.error());
  show_status();
  const begin news{attempt, x.step, data_anew ? std::map<std::string, std::string>{} : x.blobs};
  self->send(outfeed(), begin{attempt, x.step, {}});
  tell_all<role::replica>(begin{attempt, x.step, {}});
  tell_all<role::infeed>(news);
  if (!callbacks())
    return begin_training();
  fact first;
  first.what = fact::begin_at;
  first.at = x.step;
  tell(std::move(first));
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
  show_status();
  const bool nothing_left = end_at && *end_at <= start_step;
  std::string how = "a fresh start";
  if (committed_at)
    how = "resumed from " + checkpoint
          + (nothing_left ? "" : data_anew ? "; the data begin anew, as the job had finished" : "; the data go on where they stood");
  publish({.what = job_event::kind::started, .step = start_step, .max_steps = end_at, .text = std::move(how)});
  for (const auto& w : restore_warnings)
    publish({.what = job_event::kind::warning, .step = start_step, .text = w});
  if (nothing_left) {
    remark = "nothing to train: " + (checkpoint.empty() ? "the job" : checkpoint) + " stands at step "
             + std::to_string(start_step) + " already, and max_steps is " + std::to_string(*end_at);
    end_at = start_step;
    if (evaluator() && !checkpoint.empty()) {
      now = phase::draining;
      newest_unevaluated = start_step;
      commit_gates.insert(start_step);
      return evaluate_next();
    }
    return end();
  }
  if (summaries())
    self->send(summaries(), note{note::start, start_step, {}});
  // A step-0 checkpoint at a fresh start; a resumed run verifies and re-lists the one it came from.
  std::vector<mark> first;
  if (options.checkpoints) {
    place_save(start_step);
    first.push_back({start_step, mark_snapshot});
  }
  if (const auto kinds = marks_at(start_step) & mark_watch; kinds != 0) {
    first.push_back({start_step, static_cast<uint8_t>(kinds)});
    facts.marked(start_step);
  }
  grant(start_step, std::move(first));
  if (options.save_secs && options.checkpoints)
    arm(wait_next_save, save_period(), "");
  if (stopping)
    return drain(until, false);
  extend();
}

// -- requests and waits ----------------------------------------------------------------------

void chief_state::on_request(const request& x) {
  if (ends())
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
    causes.abort(error{errc::cancelled, "the job was aborted", {}, options.name, reached});
    options.nodes->cancel();
    return end();
  }
  stopping = true;
  by_signal = by_signal || x.by_signal;
  if (by_signal && evaluating && !std::exchange(cancelled_evaluation, true))
    self->send(evaluator(), request{request::stop});
  if (now == phase::training)
    drain(until, false);
  if (by_signal)
    evaluate_next();  // One that waits for its event file is not made.
  if (now == phase::draining && !ends())
    cut_short();
}

void chief_state::arm(wait w, std::chrono::milliseconds patience, std::string what) {
  waiting.arm(w, patience, std::move(what));
}

void chief_state::on_deadline(const deadline& x) {
  const auto over = waiting.on(x);
  if (!over)
    return;
  switch (static_cast<wait>(*over)) {
    case wait_next_save:
      if (now != phase::training)
        return;
      if (saving.empty())
        mark_here(mark_snapshot);
      else if (skipped_for != *saving.begin() && (skipped_for = *saving.begin(), true))
        publish({.what = job_event::kind::warning, .step = reached,
                 .text = "a save every " + std::to_string(*options.save_secs) + " s was due while the one of step "
                         + std::to_string(*saving.begin()) + " is still on its way; it is skipped"});
      return arm(wait_next_save, save_period(), "");
    case wait_silence:
      return ask_around();
    case wait_answers:
      return fail_of_silence();
    case wait_save:
      return give_up_saves();
    case wait_stop:
      return finish();
    case wait_flush:
      return on_flushed({flushes});
    case wait_news:
      return fail_now(*std::exchange(announced, std::nullopt));
    case wait_cut:
      // They end at the step at hand, as at the end of the data; a read that blocks has nothing left to do it for.
      if (reached >= until || stream_ended)
        return;
      cut = true;
      if (options.stops_at_infeeds)
        tell_all<role::infeed>(stop{attempt});
      else
        tell_all<role::replica>(stop{attempt});
      return options.nodes->cancel_reads();
    case wait_hooks:
      if (!ends())
        return respond(role::callbacks, trouble::hangs, waited_for(wait_hooks, "callbacks"));
      causes.add(error{errc::deadline_exceeded, options.name + " waited too long for " + waiting.what(wait_hooks) + ": their last call was not made",
                       {}, "callbacks", reached});
      return send_home();
    case wait_evaluation:
      if (evaluating)
        self->send(writer(), unlease{*evaluating});
      evaluating.reset();
      return respond(role::evaluator, trouble::hangs, waited_for(wait_evaluation, options.name));
    case wait_eval_room:
      return respond(role::eval_summary_writer, trouble::hangs, waited_for(wait_eval_room, options.name));
    default:  // wait_start
      respond(role::checkpoint_writer, trouble::hangs, waited_for(*over, options.name));
  }
}

error chief_state::waited_for(int32_t kind, std::string source) const {
  return {errc::deadline_exceeded, options.name + " waited too long for " + waiting.what(kind), {}, std::move(source), reached};
}

std::chrono::milliseconds chief_state::save_period() const {
  // Bounded so that no setting makes the timer spin, or a clock overflow.
  return std::chrono::milliseconds(static_cast<int64_t>(std::clamp(options.save_secs.value_or(600), 0.01, 3e7) * 1000));
}

// -- what others are shown ----------------------------------------------------------------------

std::chrono::nanoseconds chief_state::now_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(self->clock().now() - started);
}

double chief_state::seconds() const {
  return std::chrono::duration<double>(now_ns()).count();
}

void chief_state::publish(job_event e) {
  e.seconds = seconds();
  options.board->event(e);
  if (!callbacks())
    return;
  if (e.what == job_event::kind::progress) {
    held_progress = held_progress ? joined(progress_told, *held_progress, std::move(e)) : std::move(e);
    constexpr int64_t behind_max = 8;
    if (facts.unanswered() < std::min(behind_max, facts.size()))
      tell_progress();
    return;
  }
  tell_progress();
  fact f;
  f.what = fact::event;
  f.at = e.step;
  f.news = std::move(e);
  tell(std::move(f));
}

void chief_state::tell_progress() {
  if (!held_progress || !callbacks())
    return;
  fact f;
  f.what = fact::event;
  f.at = progress_told = held_progress->step;
  f.news = *std::exchange(held_progress, std::nullopt);
  tell(std::move(f));
}

void chief_state::tell(fact f, std::optional<int64_t> watch) {
  f.number = facts.told(now_ns(), watch);
  if (f.gate)
    gates_told.insert(f.at);
  self->send(callbacks(), std::move(f));
  wait_for_hooks(false);
}

/// Only where somebody waits: at a gate, at the first and the last call, and where the horizon is held until they catch up.
void chief_state::wait_for_hooks(bool anew) {
  if (!anew && waiting.armed(wait_hooks))
    return;
  disarm(wait_hooks);
  if (!callbacks() || facts.unanswered() == 0)
    return;
  if (ends())
    arm(wait_hooks, options.deadlines.hooks, "the hooks to see the end");
  else if (now == phase::restoring)
    arm(wait_hooks, options.deadlines.hooks, "the hooks to begin");
  else if (!gates_told.empty())
    arm(wait_hooks, options.deadlines.hooks, "a hook's answer at step " + std::to_string(*gates_told.begin()));
  else if (facts.full() || facts.unanswered() > facts.size())
    arm(wait_hooks, options.deadlines.hooks, "the hooks, which are " + std::to_string(facts.unanswered()) + " facts behind at step " + std::to_string(reached));
}

double chief_state::steps_per_second() const {
  return speed.seconds_per_step() > 0 ? 1 / speed.seconds_per_step() : 0;
}

void chief_state::show_status() {
  options.board->status({shown(now), reached, end_at, loss, steps_per_second(),
                         committed_at.value_or(-1), metrics});
}

chief_actor::behavior_type chief(chief_actor::stateful_pointer<chief_state> self, chief_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  const auto& limits = state.options.deadlines;
  state.waiting.start(self, waits{chief_state::wait_kinds, waits::period_for({limits.start, limits.silence, limits.save, limits.evaluation,
                                                                              limits.hooks, limits.stop, limits.cut, state.save_period()})});
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_down(x); });
  state.start_crew();
  return {
    [&state](const restored& x) { state.on_restored(x); },
    [&state](const progress& x) { state.on_progress(x); },
    [&state](const stream_end& x) { state.on_stream_end(x); },
    [&state](const step_report& x) { state.on_lane(x); },
    [&state](const input_failed& x) { state.on_input_failed(x); },
    [&state](const input_warned& x) { state.on_input_warned(x); },
    [&state](const failure& x) { state.on_failure(x); },
    [&state](const flushed& x) { state.on_flushed(x); },
    [&state](const standing& x) {
      if (state.whereabouts.on(x) && state.waiting.armed(chief_state::wait_answers))
        state.fail_of_silence();
    },
    [&state](const committed& x) { state.on_committed(x); },
    [&state](const save_failed& x) { state.on_save_failed(x); },
    [&state](const evaluated& x) { state.on_evaluated(x); },
    [&state](const room& x) { state.on_eval_room(x); },
    [&state](const answered& x) { state.on_answered(x); },
    [&state](const request& x) { state.on_request(x); },
    [&state](const deadline& x) { state.on_deadline(x); },
  };
}

}  // namespace troupe
