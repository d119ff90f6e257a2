// The chief while it trains and drains: the horizon, its marks, the reports, and the end in sight.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"
#include "words/need.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- the horizon ------------------------------------------------------------------------------

int64_t chief_state::limit() const {
  int64_t limit = end_at.value_or(INT64_MAX);
  if (!commit_gates.empty())
    limit = std::min(limit, *commit_gates.begin());
  if (!hook_gates.empty())
    limit = std::min(limit, *hook_gates.begin());
  if (evaluator() && options.when == evaluation_mode::waits && options.checkpoints)
    limit = std::min(limit, next_multiple(until, options.save_steps));
  for (const auto& n : needs)
    if (n.gate)
      limit = std::min(limit, next_need(until, n));
  return limit;
}

/// Whether as much is on its way as may be: of saves, to which infeeds and the books give their parts ahead of the replicas, and of
/// records, which the outfeed keeps while the summary writer has no room.
bool chief_state::far_ahead(int64_t step) const {
  constexpr size_t saves_max = 8;
  constexpr int64_t records_max = 32;
  if (options.checkpoints && next_multiple(step - 1, options.save_steps) == step && saving.size() >= saves_max)
    return true;
  return summaries() && step % options.summary_steps == 0 && step / options.summary_steps - reached / options.summary_steps > records_max;
}

uint8_t chief_state::marks_at(int64_t step) {
  uint8_t kinds = 0;
  if (options.checkpoints && (end_at == step || (options.save_steps && *options.save_steps > 0 && step % *options.save_steps == 0)))
    kinds |= mark_snapshot;
  if (end_at == step)
    kinds |= mark_end;
  if (summaries() && step % options.summary_steps == 0)
    kinds |= mark_summary;
  for (const auto& n : needs)
    if (next_need(step - 1, n) == step) {
      kinds |= mark_watch;
      if (n.gate)
        hook_gates.insert(step);
    }
  return kinds;
}

bool chief_state::watched(int64_t step) const {
  return std::any_of(needs.begin(), needs.end(), [step](const need& n) { return next_need(step - 1, n) == step; });
}

void chief_state::extend() {
  if (now != phase::training || ends())
    return;
  // Facts that show no watch are not marked beforehand; they hold the horizon when hooks leave more than one behind.
  if (callbacks() && facts.unanswered() > std::max<int64_t>(facts.size(), 1))
    return;
  int64_t target = std::min(reached + horizon_ahead(block_steps, speed.cautious_seconds_per_step()), limit());
  std::vector<mark> marks;
  for (int64_t step = until; step < target;) {
    int64_t next = std::min(target, options.checkpoints ? next_multiple(step, options.save_steps) : INT64_MAX);
    if (summaries())
      next = std::min(next, next_multiple(step, options.summary_steps));
    for (const auto& n : needs)
      next = std::min(next, next_need(step, n));
    const bool shown = watched(next);
    if (far_ahead(next) || (shown && facts.room() == 0)) {  // Up to the state before, which nobody wants to see.
      target = next - 1;
      break;
    }
    if (shown)
      facts.marked(next);
    step = next;
    if (const uint8_t kinds = marks_at(step); kinds != 0) {
      marks.push_back({step, kinds});
      if ((kinds & mark_snapshot) != 0)
        place_save(step);
    }
  }
  if (target <= until)
    return;
  grant(target, std::move(marks));
  if (end_at && until >= *end_at) {
    now = phase::draining;
    show_status();
  }
}

void chief_state::grant(int64_t new_until, std::vector<mark> marks) {
  const bool idle = reached >= until;
  until = std::max(until, new_until);
  const run news{attempt, until, std::move(marks)};
  tell_all<role::infeed>(news);
  tell_all<role::replica>(news);
  if (idle) {
    speed.begins(now_ns());
    await_reports();
  }
}

void chief_state::mark_here(uint8_t kinds) {
  if ((kinds & mark_snapshot) != 0 && is_settled(until))
    kinds &= static_cast<uint8_t>(~mark_snapshot);
  if ((kinds & mark_snapshot) != 0 && !saving.contains(until)) {
    place_save(until);
    await_saves();
  }
  if (kinds != 0)
    grant(until, {{until, kinds}});
}

// -- reports ----------------------------------------------------------------------------------

void chief_state::on_progress(const progress& x) {
  if (x.attempt != attempt || !trains() || ends())
    return;
  if (x.step > reached) {
    speed.goes_on(now_ns(), x.step - reached);
    reached = x.step;
    block_steps = x.block_steps;
    loss = x.loss.mean;
    last_loss = x.loss.last;
    losses_of_groups = x.loss.of_groups;
    await_reports();
  }
  for (const auto& point : x.logged) {
    job_event e{.what = job_event::kind::progress, .step = point.step, .max_steps = end_at, .loss = point.mean};
    e.steps_per_second = steps_per_second();
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
    f.gate = hook_gates.contains(values.step);
    tell(std::move(f), values.step);
  }
  on_reached();
}

void chief_state::await_reports() {
  disarm(wait_silence);
  disarm(wait_answers);
  whereabouts.withdraw();
  if ((until > reached || facts.expects()) && failing == failing::no)
    arm(wait_silence, options.deadlines.silence, "");
}

/// A silence tells nothing of who is the cause of it: everyone says where they stand, and who does not is busy.
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
  arm(wait_answers, std::min(options.deadlines.silence, options.deadlines.stop), "");
}

void chief_state::fail_of_silence() {
  disarm(wait_answers);
  fail_now(error{errc::deadline_exceeded, options.name + " waited too long for a report of step " + std::to_string(reached) + ": " + whereabouts.text(),
                 {}, options.name, reached});
}

/// Without an outfeed only how far everyone is can be known.
void chief_state::on_lane(const step_report& x) {
  if (x.attempt != attempt || outfeed() || now != phase::draining || ends())
    return;
  auto& lane = lanes[x.replica];
  lane = std::max(lane, x.step + static_cast<int64_t>(x.losses.size()));
  if (lanes.size() < nodes.count(role::replica))
    return;
  for (const auto& [replica, step] : lanes)
    lane = std::min(lane, step);
  reached = std::max(reached, lane);
  on_reached();
}

void chief_state::on_reached() {
  send_books_up_to(reached);
  await_saves();
  publish_held();
  if (announced && *announced->step <= reached)
    return fail_now(*std::exchange(announced, std::nullopt));
  extend();
  show_status();
  check_end();
}

void chief_state::on_stream_end(const stream_end& x) {
  if (x.attempt != attempt || !trains() || ends() || std::exchange(stream_ended, true))
    return;
  announced.reset();
  disarm(wait_news);
  const bool stopped = cut && x.kind == end_kind::stopped;
  if (x.kind != end_kind::data && !stopped)
    return fail_now(x.cause);
  if (x.step == 0 && !stopped)
    return fail_now(error{errc::out_of_range, "the dataset has no batches", {}, x.cause.source, 0});
  if (failing == failing::settling || (end_at == x.step && end_is_final))
    return;
  if (!stopped) {
    remark = "the data ended at step " + std::to_string(x.step)
             + (end_at && end_is_final ? ", before max_steps " + std::to_string(*end_at) : std::string{});
    publish({.what = job_event::kind::warning, .step = x.step, .text = remark});
  }
  // What was to happen beyond the end will not: neither awaited nor missed.
  saving.erase(saving.upper_bound(x.step), saving.end());
  unbooked.erase(unbooked.upper_bound(x.step), unbooked.end());
  commit_gates.erase(commit_gates.upper_bound(x.step), commit_gates.end());
  hook_gates.erase(hook_gates.upper_bound(x.step), hook_gates.end());
  facts.ends_at(x.step);
  self->send(writer(), abandon{attempt, x.step});
  tell_all<role::infeed>(rewind{attempt, x.step});
  now = phase::draining;
  end_at = x.step;
  until = x.step;  // Nobody will get beyond it; receivers keep the greater horizon they know.
  reached = std::max(reached, x.step);
  publish_held();
  end_is_final = !stopped;
  disarm(wait_silence);
  disarm(wait_answers);
  disarm(wait_cut);
  if (options.checkpoints && !is_settled(x.step))
    place_save(x.step);  // If a mark was there already, its books did not know yet that this is the end.
  disarm(wait_save);
  await_saves();
  check_end();
}

// -- hooks ------------------------------------------------------------------------------------

void chief_state::on_answered(const answered& x) {
  facts.answered(now_ns(), x.number);
  if (x.gate)
    gates_told.erase(x.step);
  wait_for_hooks(true);
  if (x.at_end) {
    hooks_done = true;
    return send_home();
  }
  if (ends())
    return;
  if (x.at_begin) {
    if (now != phase::restoring)
      return;
    needs = x.needs;
    return begin_training();
  }
  if (facts.unanswered() == 0)
    tell_progress();
  if (x.gate)
    hook_gates.erase(x.step);
  extend();
  check_end();
}

// -- the end in sight ---------------------------------------------------------------------------

void chief_state::drain(int64_t at, bool final) {
  now = phase::draining;
  end_at = at;
  end_is_final = final;
  mark_here(static_cast<uint8_t>((options.checkpoints ? mark_snapshot : 0) | mark_end));
  await_saves();
  show_status();
  check_end();
}

/// A stop does not wait for steps that were granted when the input was faster.
void chief_state::cut_short() {
  if (reached < until && !stream_ended && !waiting.armed(wait_cut))
    arm(wait_cut, options.deadlines.cut, "");
}

void chief_state::check_end() {
  if (now != phase::draining || ends() || !end_at)
    return;
  if (failing != failing::no) {  // Only the saves matter, and that what has been made is told before the end.
    if (!saving.empty() || flushing)
      return;
    return outfeed() && (reached < until || facts.expects()) ? flush_outfeed() : end();
  }
  if (reached < *end_at || !saving.empty() || !held.empty() || evaluating || newest_unevaluated || !hook_gates.empty()
      || facts.expects())
    return;
  if (evaluator() && !by_signal && evaluated_at != end_at && committed_at == end_at && *end_at > start_step) {
    newest_unevaluated = *end_at;  // The last checkpoint is evaluated whatever the throttle says.
    return evaluate_next();
  }
  end();
}

}  // namespace troupe
