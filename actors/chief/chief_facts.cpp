// What the chief tells hooks, and the status that it shows.
#include "actors/chief/chief_subjects.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

std::chrono::nanoseconds chief_state::now_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(self->clock().now() - origin.began);
}

double chief_state::seconds() const { return std::chrono::duration<double>(now_ns()).count(); }

void chief_state::warn(int64_t step, std::string text) {
  publish({.what = job_event::kind::warning, .step = step, .text = std::move(text)});
}

uint64_t chief_state::publish(job_event e) {
  e.seconds = seconds();
  show_status();  // A reader of the event finds a status at least as new.
  options.board->event(e);
  if (!callbacks())
    return 0;
  if (e.what == job_event::kind::progress) {
    facts.progress.add(std::move(e));
    constexpr int64_t behind_max = 8;
    if (facts.unanswered() < std::min(behind_max, facts.size()))
      tell_progress();
    return 0;
  }
  tell_progress();
  const bool held = (e.what == job_event::kind::saved && gates.holds().saved)
                    || (e.what == job_event::kind::evaluated && gates.holds().evaluated);
  fact f;
  f.what = fact::event;
  f.at = e.step;
  f.news = std::move(e);
  const auto step = f.at;
  const auto number = tell(std::move(f));
  if (held && !ends()) {
    gates.hold_fact(number, step);
    facts.hold(number, step);
  }
  return number;
}

bool chief_state::tell_progress() {
  auto e = callbacks() ? facts.progress.take() : std::nullopt;
  if (!e)
    return false;
  fact f;
  f.what = fact::event;
  f.at = e->step;
  f.news = std::move(*e);
  tell(std::move(f));
  return true;
}

uint64_t chief_state::tell(fact f, std::optional<int64_t> watch) {
  const auto number = f.number = facts.told(now_ns(), watch);
  if (f.gate) {
    gates.asked(f.at);
    facts.hold(number, f.at);
  }
  self->send(callbacks(), std::move(f));
  return number;
}

double chief_state::steps_per_second() const {
  const double each = horizon.pace().seconds_per_step();
  return each > 0 ? 1 / each : 0;
}

/// Sends the board only what has changed.
void chief_state::show_status() {
  // A later attempt restores as part of its recovery.
  const bool restores_again = attempt > 1 && now == chief_phase::restoring;
  const auto seen = !restores_again       ? shown(now)
                    : next.growth.by_plan ? job_progress::phase::training
                                          : job_progress::phase::recovering;
  bool news = !told.status;
  auto& known = told.status ? *told.status : told.status.emplace();
  const auto set = [&news](auto& to, const auto& value) {
    if (to != value) {
      to = value;
      news = true;
    }
  };
  set(known.now, seen);
  set(known.step, horizon.reached());
  set(known.max_steps, shown_end());
  set(known.loss, results.losses.mean);
  set(known.steps_per_second, steps_per_second());
  set(known.committed_step, saves.last_commit().value_or(checkpoint_id{-1}).step);
  set(known.evaluations, results.metrics);
  set(known.evaluating, evaluations.under_way());
  if (searching.on())
    set(known.candidates, searching.candidates(results.losses.of_groups));
  set(known.paused, wishes.pause);
  if (news)
    options.board->status(known);
}

}  // namespace troupe
