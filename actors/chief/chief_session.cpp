// The chief of a session: what the caller asks for between runs, and what becomes of it.
#include "actors/chief/chief_subjects.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

using stage = session_runs::stage;

static constexpr size_t readings_max = 64;  ///< Requests for variables that wait at once.

static bool hears_of_runs(const chief_state& c) {
  return c.callbacks() && c.facts.runs && c.session.call().tells_hooks;
}

void on_run_until(chief_state& c, const run_until& x) {
  x.what == run_until::begun_anew ? c.session.begun_anew(x.number) : c.session.asks(x);
}

/// What was cancelled in a call may follow from work beside it, of which only the caller hears.
void hear_of_work_beside(chief_state& c) {
  if (!c.options.preempted || !c.session.has_caller())
    return;
  auto cause = c.options.preempted();
  if (!cause)
    return;
  cause->step = c.horizon.reached();
  c.ending.causes.add(std::move(*cause));
  c.session.preempted();
}

void have_work_begun_anew(chief_state& c) {
  if (c.session.asks_caller())
    c.options.board->run_ended({.number = c.session.call().number, .preempted = true});
}

/// To the first replica: in a job of one model it reads the variables for all.
static void pass_on(chief_state& c, read_variables x) {
  x.attempt = c.attempt;
  for (const auto& m : c.nodes.members())
    if (m.what == role::replica && m.handle)
      return c.self->send(caf::actor_cast<replica_actor>(m.handle), std::move(x));
}

void on_read_variables(chief_state& c, const read_variables& x) {
  if (x.names.empty()) {
    if (c.readings.erase(x.number) == 0)
      return;
  } else if (c.readings.size() >= readings_max) {
    return c.options.board->variables(
        {.number = x.number,
         .failure = error{errc::resource_exhausted,
                          std::to_string(readings_max) + " requests for variables wait already"}});
  } else {
    c.readings[x.number] = x.names;
  }
  if (c.trains())
    pass_on(c, x);
}

void on_variables_read(chief_state& c, const variables_read& x) {
  const auto wanted = c.readings.extract(x.number);
  if (!wanted)
    return;
  reading news{.number = x.number, .step = x.step};
  if (!x.ok)
    news.failure = x.cause;
  for (size_t i = 0; i < x.values.size(); ++i)
    news.values[wanted.mapped()[i]] = x.values[i];
  c.options.board->variables(std::move(news));
}

/// What was fetched, by name, of a call that ends at `step`.
static std::map<std::string, tensor> values_of(const chief_state& c, int64_t step) {
  std::map<std::string, tensor> named;
  for (const auto& [name, value] : c.session.metrics)
    named[name] = tensor::scalar(value);
  if (const auto& found = c.session.values(); found && step > c.session.begins()) {
    const auto& names = c.options.values;
    const auto outputs = names.outputs.size();
    for (size_t i = 0; i < found->values.size(); ++i)
      if (i < outputs)
        named[names.outputs[i]] = found->values[i];
      else if (i - outputs < names.observed.size())
        named[names.observed[i - outputs]] = found->values[i];
  }
  return named;
}

static void end_call(chief_state& c, int64_t step, std::optional<error> failure = {}, std::string checkpoint = {}) {
  run_end news{.number = c.session.call().number, .begins = c.session.begins(), .step = step};
  news.values = values_of(c, step);
  std::tie(news.taken_back, news.recoveries) = c.session.end(step);
  news.checkpoint = std::move(checkpoint);
  // An attempt that fails does not end the job, unless its result says so.
  news.stops = c.ending.stops() || c.ends() || (c.now == chief_phase::draining && !c.ending.fails());
  if (news.stops)
    c.session.release();  // An attempt that follows a failure of the end goes to that end by itself.
  news.failure = std::move(failure);
  c.show_status();  // A caller who looks now finds a status at least as new.
  c.options.board->run_ended(std::move(news));
}

void arm_next_record(chief_state& c) {
  const auto secs = std::clamp(*c.options.summary_secs, 0.01, 3e7);
  c.arm(chief_wait::next_record, std::chrono::milliseconds(static_cast<int64_t>(secs * 1000)), true);
}

void tell_created(chief_state& c, int64_t step) {
  const bool is_known = c.session.at() != stage::opening;
  if (!c.session.on() || !c.callbacks() || (is_known && !c.facts.runs))
    return;
  fact f;
  f.what = fact::created;
  f.at = step;
  c.tell(std::move(f));
}

void session_begins(chief_state& c) {
  if (!c.session.on())
    return;
  if (c.session.at() == stage::closing)
    end_call(c, c.session.ended_at());  // The hooks have heard of that run; its steps are told to the next one.
  if (c.session.begin_attempt(c.horizon.began_at()))
    end_call(c, c.horizon.began_at());
  for (const auto& [number, names] : c.readings)
    pass_on(c, {0, number, names});
}

static void begin_call(chief_state& c) {
  const auto& call = c.session.call();
  if (c.session.is_interrupted())
    return end_call(c, c.session.begins(),
                    error{errc::aborted,
                          "the job went back to step " + std::to_string(c.session.begins()),
                          {},
                          c.options.name,
                          c.session.begins()});
  if (call.what == run_until::renew) {
    c.session.renew();
    return fail_now(c, call.cause);
  }
  if (call.what == run_until::save)
    return c.session.save();
  if (!hears_of_runs(c))
    return c.session.run();
  fact f;
  f.what = fact::before_run;
  f.from = c.session.begins();
  f.at = c.session.until();
  c.session.prepare(c.tell(std::move(f)));
}

/// Saves the state where the job stands, unless that is under way. Returns false if there is nothing to do but wait.
static bool save_for_caller(chief_state& c) {
  const auto step = c.horizon.until();
  const checkpoint_id here{step, c.options.stored.iteration.number};
  if (c.saves.last_commit() == here) {
    end_call(c, step, {}, c.saves.prefix());
    return true;
  }
  if (c.now != chief_phase::training || c.saves.is_placed(step) || c.saves.is_settled(here))
    return false;
  mark_here(c, mark_snapshot);
  return true;
}

/// Where the run at hand ends, as far as that is known.
static int64_t end_of_run(const chief_state& c) {
  return std::min(c.session.until(), c.horizon.end().value_or(INT64_MAX));
}

/// The run ends once the job has come to its end, and everybody has seen that.
static bool end_run(chief_state& c) {
  const auto end = end_of_run(c);
  if (!c.trains() || c.horizon.reached() < end)
    return false;
  if (c.ending.data_ended && end < c.session.until()) {
    end_call(c, end, error{errc::out_of_range, c.ending.remark, {}, c.options.name, end});
    return true;
  }
  if (c.session.awaits_values() || c.facts.expects() || c.facts.unanswered() > 0)
    return false;
  if (!hears_of_runs(c)) {
    end_call(c, end);
    return true;
  }
  fact f;
  f.what = fact::after_run;
  f.from = c.session.begins();
  f.at = end;
  if (c.session.values() && end > c.session.begins())
    f.values = *c.session.values();
  f.news.metrics = c.session.metrics;
  c.session.close(end);
  c.tell(std::move(f));
  return true;
}

bool serve_session(chief_state& c) {
  if (c.session.at() == stage::closing && c.facts.unanswered() == 0) {
    end_call(c, c.session.ended_at());
    return true;
  }
  if (c.ending.fails() || !c.trains())
    return false;
  const bool may_begin = c.now == chief_phase::training && !c.ending.stops();
  switch (c.session.at()) {
    case stage::asked:
      if (may_begin)
        begin_call(c);
      return may_begin;
    case stage::preparing:
      if (may_begin && c.session.is_prepared())
        c.session.run();
      return c.session.at() == stage::running;
    case stage::running: return end_run(c);
    case stage::saving: return save_for_caller(c);
    default: return false;
  }
}

bool ends_a_run(const chief_state& c) {
  switch (c.session.at()) {
    case stage::preparing: return !c.session.is_prepared();
    case stage::closing: return true;
    case stage::running: return c.trains() && c.horizon.reached() >= end_of_run(c);
    default: return false;
  }
}

bool rests_between_runs(const chief_state& c) {
  return c.session.at() == stage::idle && c.now == chief_phase::training && c.horizon.idle() && !c.saves.any()
         && !c.saves.any_held() && c.facts.unanswered() == 0 && !c.verdicts.holds() && !c.ending.fails();
}

}  // namespace troupe
