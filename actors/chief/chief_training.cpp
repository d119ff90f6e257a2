// The chief while it trains and drains: the horizon, its marks, the reports, and the end in sight.
#include "actors/chief/chief.hpp"

#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- the horizon ------------------------------------------------------------------------------

/// Whether a save is a gate until its evaluation, if any, has ended: training waits for evaluations, or a hook holds the
/// fact of an evaluation.
bool chief_state::evaluations_are_gates() const {
  return evaluations.are_gates(gates.holds().evaluated);
}

bool chief_state::commits_are_gates() const {
  return options.checkpoints && (evaluations_are_gates() || gates.holds().saved);
}

bool chief_state::extend() {
  if (now != phase::training || wishes.pause || verdicts.holds())
    return false;
  // Facts without a watch have no mark in advance; they hold the horizon while more facts than the window, and more than
  // one, are unanswered.
  if (callbacks() && facts.unanswered() > std::max<int64_t>(facts.size(), 1))
    return false;
  const int64_t next_gate = commits_are_gates() ? horizon.next_save(horizon.until()) : INT64_MAX;
  const int64_t next_shown = options.checkpoints ? evaluations.next_shown(horizon.until()) : INT64_MAX;
  auto further = horizon.next(gates, {std::min({gates.limit(horizon.until()), next_gate, next_shown}), saves.unreported(), facts.room(), next_shown});
  if (further.until <= horizon.until())
    return false;
  for (const auto& m : further.marks) {
    if ((m.kinds & mark_watch) != 0) {
      facts.marked(m.step);
      gates.marked(m.step);
    }
    if ((m.kinds & mark_snapshot) != 0)
      place_save(m.step);
    if ((m.kinds & mark_show) != 0)
      place_show(m.step);
  }
  grant_up_to(further.until, std::move(further.marks));
  if (horizon.end() && horizon.until() >= *horizon.end())
    now = phase::draining;
  return true;
}

void chief_state::grant_up_to(int64_t until, std::vector<mark> marks) {
  horizon.granted(now_ns(), until);
  const run news{attempt, horizon.until(), std::move(marks)};
  tell_all<role::infeed>(news);
  tell_replicas(news);
}

void chief_state::mark_here(uint8_t kinds) {
  const auto here = horizon.until();
  if ((kinds & mark_snapshot) != 0 && saves.is_settled({here, options.iteration}))
    kinds &= static_cast<uint8_t>(~mark_snapshot);
  if ((kinds & mark_snapshot) != 0 && !saves.is_placed(here))
    place_save(here);
  if ((kinds & mark_end) != 0 && gates.shows_last() && !gates.shows(here) && callbacks() && !ending.fails()) {
    kinds |= gates.observes() ? mark_watch | mark_observe : mark_watch;
    facts.marked(here);
  }
  if (kinds != 0)
    grant_up_to(here, {{here, kinds}});
}

// -- reports ----------------------------------------------------------------------------------

void chief_state::on_progress(const progress& x) {
  if (!trains())
    return;
  const bool further = horizon.reach(now_ns(), x.step, x.block_steps);
  if (further)
    results.losses = x.loss;
  for (const auto& point : x.logged) {
    job_event e{.what = job_event::kind::progress, .step = point.step, .max_steps = horizon.end(), .loss = point.mean};
    e.steps_per_second = steps_per_second();
    e.metrics = point.metrics;
    e.arrays = point.arrays;
    for (const auto& [group, mean] : point.of_groups)
      e.metrics["loss/" + group] = mean;
    publish(std::move(e));
  }
  for (const auto& values : x.watched) {
    if (!callbacks())
      continue;
    tell_progress();
    fact f;
    f.what = fact::step;
    f.at = values.step;
    f.values = values;
    f.gate = gates.is_held(values.step);
    f.last = horizon.end() == values.step;
    f.news.seconds = seconds();
    told.watch = std::max(told.watch.value_or(values.step), values.step);
    tell(std::move(f), values.step);
  }
  if (further || !x.watched.empty())
    end_silence();
  if (further && waiting.armed(chief_wait::news))
    arm(chief_wait::news, options.deadlines.stop);  // The step of an announced failure comes nearer.
}

/// The next report has the whole patience again.
void chief_state::end_silence() {
  disarm(chief_wait::reports);
  disarm(chief_wait::answers);
  whereabouts.withdraw();
}

/// A silence does not show its cause: all nodes are asked where they stand, and a node that does not answer is busy.
void chief_state::ask_around() {
  std::vector<std::string> asked;
  for (const auto& who : nodes.members())
    if (who.handle && (who.what == role::infeed || who.what == role::replica || who.what == role::outfeed))
      asked.push_back(who.name);
  std::sort(asked.begin(), asked.end());
  const probe where{whereabouts.begin(std::move(asked))};
  tell_all<role::infeed>(where);
  tell_all<role::replica>(where);
  tell_all<role::outfeed>(where);
  arm(chief_wait::answers, std::min(options.deadlines.silence, options.deadlines.stop));
}

void chief_state::fail_of_silence() {
  disarm(chief_wait::answers);
  auto cause = waited_for(chief_wait::reports, options.name);
  cause.message += ": " + whereabouts.text();
  fail_now(std::move(cause));
}

void chief_state::on_standing(const standing& x) {
  if (whereabouts.on(x) && waiting.armed(chief_wait::answers))
    fail_of_silence();
}

/// Without an outfeed, reports go to the chief, which uses only the states that replicas have reached.
void chief_state::on_lane(const step_report& x) {
  if (outfeed() || now != phase::draining)
    return;
  const auto& all = nodes.members();
  const auto lanes = std::count_if(all.begin(), all.end(), [&](const member& m) { return m.what == role::replica && !groups.has_left(m.group); });
  horizon.reach_lane(x.replica, x.step + std::ssize(x.losses), lanes);
}

/// The step that an infeed could not read is reached, and no replica has said why it cannot be made.
bool chief_state::fail_as_announced() {
  if (!trains() || !ending.announced || *ending.announced->step > horizon.reached())
    return false;
  fail_now(*std::exchange(ending.announced, std::nullopt));
  return true;
}

void chief_state::on_stream_end(const stream_end& x) {
  if (!trains() || lose_group(x))
    return;
  const bool was_cut = ending.state() == end_state::cut;
  if (!ending.goes_to(end_state::ended))
    return;
  if (planted(planted_fault::late_news_ignored) && x.kind == end_kind::failed && !ending.causes.empty())
    return;
  ending.announced.reset();
  disarm(chief_wait::news);
  const bool not_finite = x.kind == end_kind::not_finite;
  const bool stopped = (was_cut && x.kind == end_kind::stopped) || not_finite;
  if (x.kind != end_kind::data && !stopped)
    return fail_now(x.cause);
  if (x.step == 0 && !stopped)
    return fail_now(error{errc::out_of_range, "the dataset has no batches", {}, x.cause.source, 0});
  const auto end_at = horizon.end();
  if (ending.failing() == failing::settling || (end_at == x.step && horizon.end_is_final()))
    return;
  if (not_finite) {
    ending.because(end_cause::not_finite);
    ending.remark = "stopped before step " + std::to_string(x.step) + ", which is not finite: " + to_string(x.cause);
  } else if (!stopped) {
    ending.remark = data_ended_text(x.step, horizon.end_is_final() ? end_at : std::nullopt);
  }
  if (!stopped || not_finite)
    warn(x.step, ending.remark);
  // Saves and marks beyond the end will not happen; they are neither awaited nor reported as missing.
  saves.cancel_above(x.step);
  gates.cancel_above(x.step);
  facts.ends_at(x.step);
  self->send(writer(), abandon{attempt, x.step});
  tell_all<role::infeed>(rewind{attempt, x.step});
  now = phase::draining;
  horizon.cut_at(x.step, !stopped);
  end_silence();
  publish_commits();  // Before one of them is placed anew.
  if (options.checkpoints && !saves.is_settled({x.step, options.iteration}))
    place_save(x.step);  // Books for an earlier mark there do not say yet that this is the end.
  disarm(chief_wait::commit);
}

// -- hooks ------------------------------------------------------------------------------------

void chief_state::dealt_with(uint64_t number) {
  facts.answered(now_ns(), number);
  gates.facts_answered(number);
  disarm(chief_wait::hooks);  // For the next fact they have the whole patience.
}

void chief_state::on_hooks_ready(const hooks_ready& x) {
  dealt_with(x.number);
  listening.begin(x.listens);
  gates.set_needs(x.steps, {x.holds.saved || listening.any(), x.holds.evaluated}, x.observes, x.last);
}

void chief_state::on_answered(const answered& x) {
  dealt_with(x.number);
  if (x.gate)
    gates.answered(x.step);
  if (ends())
    return;
  if (const auto saved = listening.heard_saving(x.number))
    send_books(*saved);
  if (const auto commit = listening.heard_commit(x.number))
    offer(*commit, true);
}

void chief_state::on_hooks_ended(const hooks_ended& x) {
  dealt_with(x.number);
  send_home();
}

// -- the end in sight ---------------------------------------------------------------------------

void chief_state::drain(int64_t at, bool is_final) {
  now = phase::draining;
  horizon.end_at(at, is_final);
  mark_here(static_cast<uint8_t>((options.checkpoints ? mark_snapshot : 0) | mark_end));
}

bool chief_state::drain_further() {
  if (now != phase::draining || !horizon.end())
    return false;
  const drain_situation s{.start_step = origin.start_step,
                          .evaluates = evaluations.any(),
                          .outfeed = outfeed() != nullptr,
                          .facts_expected = facts.expects() || listening.hear_any_commit() || verdicts.holds(),
                          .flushing = flushing(),
                          .halting = may_recover() && !ending.halting.empty(),
                          .exports = exports_at_end(),
                          .by_rule = judgements.has_ended() && horizon.end_is_final() && !verdicts.says_end(),
                          .verdicts = verdicts.any_on_way(),
                          .may_recover = may_recover()};
  switch (next_of_draining(ending, horizon, saves, evaluations, gates, s)) {
    case drain_next::wait: return false;
    case drain_next::flush: flush_outfeed(); break;
    case drain_next::evaluate: evaluations.offer_last(*saves.last_commit()); break;
    case drain_next::export_last: export_last(); break;
    case drain_next::judge:
      if (waiting.armed(chief_wait::verdict))
        return false;
      tell_verdict(*saves.last_commit());
      break;
    case drain_next::keep_verdicts:
      if (!waiting.armed(chief_wait::verdict))
        arm(chief_wait::verdict, options.deadlines.save);
      return false;
    case drain_next::end: ending.fails() ? conclude() : end(); break;
  }
  return true;
}

}  // namespace troupe
