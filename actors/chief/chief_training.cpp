// The chief while it trains and drains: the horizon, its marks, the reports and the approaching end.
#include "actors/chief/chief_subjects.hpp"
#include "compute/engine/loss_meter.hpp"
#include "words/expect.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- the horizon ------------------------------------------------------------------------------

/// Whether a save is a gate until all its evaluations have ended: training waits for evaluations, or a hook holds the
/// fact of one.
bool chief_state::evaluations_are_gates() const { return evaluations.are_gates(gates.holds().evaluated); }

static bool commits_are_gates(const chief_state& c) {
  return c.options.checkpoints && (c.evaluations_are_gates() || c.gates.holds().saved);
}

/// Tells the lengths of all loops that begin below `until`.
static void fix_loops(chief_state& c, int64_t until) {
  for (const auto& l : c.loops.fix_below(until)) {
    const set_loop news{c.attempt, l};
    c.tell_replicas(news);
    if (c.outfeed())
      c.self->send(c.outfeed(), news);
  }
}

/// Whether hooks are shown the state, if it is marked for that.
static bool is_for_hooks(const chief_state& c, int64_t step) {
  return c.gates.shows(step) || (c.gates.shows_last() && c.horizon.end() == step);
}

/// Whether they were shown it by an attempt before this one, which began at it and has no values of it. Only a run of a
/// session that ends there at once marks it again.
static bool is_known_to_hooks(const chief_state& c, int64_t step) {
  return step == c.horizon.began_at() && c.gates.shows(step) && c.told.watch.value_or(-1) >= step;
}

static mark_kinds marks_of(fetch_kinds fetches) {
  return (fetches & fetch_observed) != 0 ? mark_watch | mark_observe : mark_watch;
}

bool extend(chief_state& c) {
  if (c.now != chief_phase::training || c.wishes.pause || c.verdicts.holds() || c.ending.fails())
    return false;
  // Facts without a watch have no mark in advance. They stop the horizon while more facts than the window allows, and
  // more than one, are unanswered.
  if (c.callbacks() && c.facts.unanswered() > std::max<int64_t>(c.facts.size(), 1))
    return false;
  const int64_t next_gate = commits_are_gates(c) ? c.horizon.next_save(c.horizon.until()) : INT64_MAX;
  const int64_t next_shown = c.options.checkpoints ? c.evaluations.next_shown(c.horizon.until()) : INT64_MAX;
  // Facts of loops have no mark either.
  const int64_t told_loops = c.facts.loops
                                 ? c.loops.end_after(c.horizon.reached(), std::max<int64_t>(c.facts.room(), 1))
                                 : INT64_MAX;
  const int64_t limit = std::min({c.gates.limit(c.horizon.until()), c.session.limit(), next_gate, next_shown,
                                  c.loops.limit(c.horizon.reached()), told_loops,
                                  c.callbacks() ? c.traces.limit(c.horizon.until()) : INT64_MAX});
  const int64_t fetched = c.session.wants_mark() ? std::min(c.session.until(), c.horizon.end().value_or(INT64_MAX))
                                                 : INT64_MAX;
  auto further = c.horizon.next(
      c.gates, {limit, c.saves.unreported(), c.facts.room(), next_shown, fetched, marks_of(c.session.fetches())});
  if (further.until <= c.horizon.until())
    return false;
  record_below(c, further.until);
  fix_loops(c, further.until);  // Before the books of a save in between name its loop.
  for (const auto& m : further.marks) {
    if ((m.kinds & mark_watch) != 0 && is_for_hooks(c, m.step)) {
      c.facts.marked(m.step);
      c.gates.marked(m.step);
    }
    if (m.step == fetched)
      c.session.marked(m.step);
    if ((m.kinds & mark_snapshot) != 0)
      place_save(c, m.step);
    if ((m.kinds & mark_show) != 0)
      place_show(c, m.step);
  }
  grant_up_to(c, further.until, std::move(further.marks));
  if (c.horizon.end() && c.horizon.until() >= *c.horizon.end())
    c.now = chief_phase::draining;
  return true;
}

void grant_up_to(chief_state& c, int64_t until, std::vector<mark> marks) {
  const bool stood_still = c.horizon.granted(c.now_ns(), until);
  const run news{c.attempt, c.horizon.until(), std::move(marks)};
  if (stood_still && c.outfeed() && (c.loops.are_timed() || c.facts.loops))
    c.self->send(c.outfeed(), run{c.attempt, c.horizon.until(), {}});
  c.tell_all<role::infeed>(news);
  c.tell_replicas(news);
}

void mark_here(chief_state& c, mark_kinds kinds) {
  const auto here = c.horizon.until();
  if ((kinds & mark_end) != 0 && c.session.wants_mark() && !c.ending.fails()) {
    kinds |= marks_of(c.session.fetches());
    c.session.marked(here);
  }
  if ((kinds & mark_snapshot) != 0 && c.saves.is_settled({here, c.options.stored.iteration.number}))
    kinds &= static_cast<mark_kinds>(~mark_snapshot);
  if ((kinds & mark_snapshot) != 0 && !c.saves.is_placed(here))
    place_save(c, here);
  if ((kinds & mark_end) != 0 && c.gates.shows_last() && !c.gates.shows(here) && c.callbacks() && !c.ending.fails()) {
    kinds |= c.gates.observes() ? mark_watch | mark_observe : mark_watch;
    c.facts.marked(here);
  }
  if (kinds != 0)
    grant_up_to(c, here, {{here, kinds}});
}

// -- reports ----------------------------------------------------------------------------------

/// Tells hooks of a loop, if any asked for that.
void tell_loop(chief_state& c, const loop_point& x) {
  if (!c.callbacks() || !c.facts.loops || x.steps() == 0)
    return;
  c.tell_progress();
  fact f;
  f.what = fact::loop;
  f.at = x.end;
  f.of_loop = facts_of(x, c.options.rows, c.options.log_perplexity);
  c.tell(std::move(f));
}

void on_progress(chief_state& c, const progress& x) {
  if (!c.trains())
    return;
  auto loop = x.loops.begin();
  const auto tell_loops = [&](int64_t up_to) {
    for (; loop != x.loops.end() && loop->end <= up_to; ++loop) {
      c.loops.ended(*loop);
      tell_loop(c, *loop);
    }
  };
  expect(x.step <= c.horizon.until(), "a state beyond the horizon was reached");
  const bool further = c.horizon.reach(c.now_ns(), x.step, x.block_steps);
  if (further) {
    c.results.losses = x.loss;
    c.results.open_loop = x.open;
  }
  if (further && c.searching.on())
    follow_search(c, c.searching.reached(x.step));
  for (const auto& state : x.told)
    c.told_of_groups.enter(state);
  for (const auto& point : x.logged) {
    tell_loops(point.step);
    job_event e{.what = job_event::kind::progress, .step = point.step, .max_steps = c.shown_end(), .loss = point.mean};
    e.steps_per_second = c.steps_per_second();
    e.metrics = point.metrics;
    e.arrays = point.arrays;
    if (c.session.on() && !point.metrics.empty())
      c.session.metrics = point.metrics;
    for (const auto& [group, loss] : point.of_groups)
      e.metrics[group + "/loss"] = loss.mean;
    if (c.options.log_perplexity) {
      e.metrics["ppl"] = perplexity(point.mean);
      e.metrics["bpc"] = bits_per_character(point.mean);
    }
    c.publish(std::move(e));
  }
  for (const auto& values : x.watched) {
    tell_loops(values.step);
    c.session.watched(values);
    if (!c.callbacks() || (c.session.on() && (!is_for_hooks(c, values.step) || is_known_to_hooks(c, values.step))))
      continue;
    c.tell_progress();
    fact f;
    f.what = fact::step;
    f.at = values.step;
    f.values = values;
    f.gate = c.gates.is_held(values.step);
    f.last = c.horizon.end() == values.step;
    f.news.seconds = c.seconds();
    c.told.watch = std::max(c.told.watch.value_or(values.step), values.step);
    c.tell(std::move(f), values.step);
  }
  tell_loops(x.step);
  // Books that were lost with their writer are sent again.
  const int64_t needed = c.saves.any() ? std::min(c.saves.oldest(), x.step) : x.step;
  c.loops.forget(needed);
  c.rates.forget(needed);
  if (further || !x.watched.empty())
    end_silence(c);
  if (further && c.waiting.armed(chief_wait::news))
    c.arm(chief_wait::news, c.options.deadlines.stop);  // The replicas approach the step of an announced failure.
}

/// The next report gets the whole time again.
void end_silence(chief_state& c) {
  c.disarm(chief_wait::reports);
  c.disarm(chief_wait::answers);
  c.whereabouts.withdraw();
}

/// A silence does not show its cause, so all nodes are asked how far they are; a node that does not answer is busy.
void ask_around(chief_state& c) {
  std::vector<std::string> asked;
  for (const auto& who : c.nodes.members())
    if (who.handle && (who.what == role::infeed || who.what == role::replica || who.what == role::outfeed))
      asked.push_back(who.name);
  std::sort(asked.begin(), asked.end());
  const probe where{c.whereabouts.begin(std::move(asked))};
  c.tell_all<role::infeed>(where);
  c.tell_all<role::replica>(where);
  c.tell_all<role::outfeed>(where);
  c.arm(chief_wait::answers, std::min(c.options.deadlines.silence, c.options.deadlines.stop));
}

void fail_of_silence(chief_state& c) {
  c.disarm(chief_wait::answers);
  auto cause = c.waited_for(chief_wait::reports, c.options.name);
  cause.message += ": " + c.whereabouts.text();
  fail_now(c, std::move(cause));
}

void on_standing(chief_state& c, const standing& x) {
  if (c.reporting.on(x))
    show_report(c);
  if (c.tracing.on(x))
    tell_trace(c);
  if (c.whereabouts.on(x) && c.waiting.armed(chief_wait::answers))
    fail_of_silence(c);
}

/// Without an outfeed, replicas report to the chief, which uses only the states that they have reached.
void on_lane(chief_state& c, const step_report& x) {
  if (c.outfeed() || c.now != chief_phase::draining)
    return;
  const auto& all = c.nodes.members();
  const auto replicas = std::count_if(
      all.begin(), all.end(), [&](const member& m) { return m.what == role::replica && !c.groups.has_left(m.group); });
  c.horizon.reach_replica(x.replica, x.step + std::ssize(x.losses), replicas);
}

/// The step that an infeed could not read has been reached, and no replica has said why it cannot be made.
bool fail_as_announced(chief_state& c) {
  if (!c.trains() || !c.ending.pending_failure || *c.ending.pending_failure->step > c.horizon.reached())
    return false;
  fail_now(c, *std::exchange(c.ending.pending_failure, std::nullopt));
  return true;
}

/// Books sent for an earlier mark there do not say that this is the end. Others are sent, but the commit may be on its
/// way with the first ones: then a verdict says it.
static void place_end(chief_state& c, int64_t step) {
  if (c.saves.is_placed(step))
    c.verdicts.doubt_books_of(step);
  place_save(c, step);
}

void on_stream_end(chief_state& c, const stream_end& x) {
  if (!c.trains() || lose_group(c, x))
    return;
  if (c.flushing() && x.kind != end_kind::failed && x.step > c.horizon.reached())
    return;  // The attempt fails, and other groups do not reach that end.
  const bool was_cut = c.ending.state() == end_state::cut;
  if (!c.ending.goes_to(end_state::ended))
    return;
  if (planted(planted_fault::late_news_ignored) && x.kind == end_kind::failed && !c.ending.causes.empty())
    return;
  c.ending.pending_failure.reset();
  c.disarm(chief_wait::news);
  const bool not_finite = x.kind == end_kind::not_finite;
  const bool stopped = (was_cut && x.kind == end_kind::stopped) || not_finite;
  if (x.kind != end_kind::data && !stopped)
    return fail_now(c, c.groups.any_remains() ? x.cause : c.groups.first_cause());
  if (x.step == 0 && !stopped)
    return fail_now(c, error{errc::out_of_range, "the dataset has no batches", {}, x.cause.source, 0});
  const auto end_at = c.horizon.end();
  if (c.ending.failing() == failing::settling || (end_at == x.step && c.horizon.end_is_final()))
    return;
  if (not_finite) {
    c.ending.because(end_cause::not_finite);
    c.ending.remark = "stopped before step " + std::to_string(x.step) + ", which is not finite: " + to_text(x.cause);
  } else if (!stopped) {
    c.ending.remark = data_ended_text(x.step, c.horizon.end_is_final() ? end_at : std::nullopt);
    c.ending.data_ended = true;
  }
  if (!stopped || not_finite)
    c.warn(x.step, c.ending.remark);
  if (c.searching.on() && !stopped)
    if (auto heard = c.searching.input_ended(x.step); !heard)
      return fail_now(c, std::move(heard.error()));
  // Saves and marks beyond the end will not happen: they are neither awaited nor reported as missing.
  c.saves.cancel_above(x.step);
  c.gates.cancel_above(x.step);
  c.facts.ends_at(x.step);
  c.session.cut_at(x.step);
  c.self->send(c.writer(), abandon{c.attempt, x.step});
  c.tell_all<role::infeed>(rewind{c.attempt, x.step});
  c.now = chief_phase::draining;
  c.horizon.cut_at(x.step, stopped ? job_end::stopped : job_end::finished);
  end_silence(c);
  publish_commits(c);  // Commits are told before a save of the same state is placed.
  if (c.options.checkpoints && !c.saves.is_settled({x.step, c.options.stored.iteration.number}))
    place_end(c, x.step);
  c.disarm(chief_wait::commit);
}

// -- hooks ------------------------------------------------------------------------------------

static void dealt_with(chief_state& c, uint64_t number) {
  c.facts.answered(c.now_ns(), number);
  c.gates.facts_answered(number);
  c.disarm(chief_wait::hooks);  // The next fact gets the whole time.
}

void on_hooks_ready(chief_state& c, const hooks_ready& x) {
  dealt_with(c, x.number);
  if (x.holds.evaluated && c.nodes.count(role::checkpoint_watcher) > 0 && !c.ends())
    return fail_now(c, {errc::invalid_argument,
                        "a hook holds the job at 'evaluated', and this chief leaves evaluations to an evaluator in "
                        "another process: run it as master, which evaluates itself",
                        {},
                        c.options.name});
  c.facts.listening.begin(x.listens);
  c.facts.loops = x.loops;
  c.facts.runs = x.runs;
  c.traces.set_needs(x.traces);
  c.gates.set_needs(x.steps, {x.holds.saved || c.facts.listening.any(), x.holds.evaluated}, x.observes, x.last);
}

void on_answered(chief_state& c, const answered& x) {
  dealt_with(c, x.number);
  c.session.answered(x.number, x.fetches);
  if (x.gate)
    c.gates.answered(x.step);
  if (c.ends())
    return;
  if (const auto saved = c.facts.listening.heard_saving(x.number))
    send_books(c, *saved);
  if (const auto commit = c.facts.listening.heard_commit(x.number))
    queue_evaluations(c, *commit, true);
}

void on_hooks_ended(chief_state& c, const hooks_ended& x) {
  dealt_with(c, x.number);
  end_job_nodes(c);
}

// -- the end in sight ---------------------------------------------------------------------------

void drain(chief_state& c, int64_t at, job_end how) {
  c.now = chief_phase::draining;
  c.horizon.end_at(at, how);
  mark_here(c, static_cast<mark_kinds>((c.options.checkpoints ? mark_snapshot : 0) | mark_end));
}

bool drain_further(chief_state& c) {
  if (c.now != chief_phase::draining || !c.horizon.end() || c.ending.awaits_nodes)
    return false;  // An end that awaits nodes is decided on.
  if (ends_a_run(c) && !c.ending.fails())
    return false;
  if (c.waiting.armed(chief_wait::trace) && !c.ending.fails())
    return false;
  const drain_situation s{
      .start_step = c.origin.start_step,
      .evaluates = c.evaluations.any(),
      .outfeed = c.outfeed() != nullptr,
      .facts_expected = c.facts.expects() || c.facts.listening.hear_any_commit() || c.verdicts.holds(),
      .flushing = c.flushing(),
      .halting = c.may_recover() && !c.ending.halting.empty(),
      .exports = exports_at_end(c),
      .end_unsaid = (c.judgements.has_ended() && c.horizon.end_is_final() && !c.verdicts.says_end())
                    || (c.options.checkpoints && !c.ended_by_rule() && c.finishes_at(*c.horizon.end())
                        && !c.verdicts.says_finish(*c.horizon.end())),
      .verdicts = c.verdicts.any_on_way(),
      .may_recover = c.may_recover()};
  switch (next_of_draining(c.ending, c.horizon, c.saves, c.evaluations, c.gates, s)) {
    case drain_next::wait: return false;
    case drain_next::flush: flush_outfeed(c); break;
    case drain_next::evaluate: c.evaluations.offer_last(*c.saves.last_commit()); break;
    case drain_next::export_last: export_last(c); break;
    case drain_next::judge:
      if (c.waiting.armed(chief_wait::verdict))
        return false;
      tell_verdict(c, *c.saves.last_commit());
      break;
    case drain_next::keep_verdicts:
      if (!c.waiting.armed(chief_wait::verdict))
        c.arm(chief_wait::verdict, c.options.deadlines.save);
      return false;
    case drain_next::end:
      if (demands_evaluation(c))
        return evaluate_on_demand(c);
      c.ending.fails() ? conclude(c) : grows(c) ? grow(c) : end(c);
      break;
  }
  return true;
}

}  // namespace troupe
