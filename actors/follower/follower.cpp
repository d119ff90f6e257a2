#include "actors/follower/follower.hpp"

#include "actors/exit_reason.hpp"
#include "messages/counted.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "words/checkpoint_books.hpp"
#include "words/guarded.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

constexpr int32_t only_attempt = 1;
/// Hooks hear events, and have no job of this process to control.
class no_control final : public job_control {
 public:
  void save() override {}
  void stop() override {}
};

}  // namespace

std::chrono::nanoseconds follower_state::now_ns() const { return self->clock().now() - began; }

std::string follower_state::prefix_of(checkpoint_id id) const {
  return join_path(options.directory, checkpoint_name(id));
}

void follower_state::publish(job_event e) {
  e.seconds = seconds();
  options.board->event(e);
  no_control control;
  for (auto& h : options.hooks) {
    auto heard = guarded("on_event() of a hook", [&] { h->on_event(e, control); });
    if (!heard && now != phase::ended)
      return fail_with(std::move(heard.error()));
  }
}

void follower_state::warn(const std::string& text) {
  constexpr size_t remembered_max = 100;
  if (warnings.size() >= remembered_max)
    warnings.clear();
  if (warnings.insert(text).second)
    publish({.what = job_event::kind::warning, .step = seen ? seen->id.step : 0, .text = text});
}

void follower_state::show_status() {
  using shown_phase = job_progress::phase;
  job_progress shown;
  switch (now) {
    case phase::starting: shown.now = shown_phase::starting; break;
    case phase::following: shown.now = shown_phase::training; break;
    case phase::exporting:
    case phase::adopting:
    case phase::closing: shown.now = shown_phase::draining; break;
    case phase::ended: shown.now = failed ? shown_phase::failed : shown_phase::finished; break;
  }
  shown.step = shown.committed_step = seen && seen->found ? seen->id.step : 0;
  shown.max_steps = options.max_steps;
  shown.evaluations = results.metrics;
  for (size_t i = 0; i < evaluations.size(); ++i)
    if (const auto at = evaluations[i].schedule.running())
      shown.evaluating.push_back({settings(i).name, at->step, evaluations[i].schedule.batches()});
  options.board->status(shown);
}

/// Another evaluator of this directory has the locks.
expected<void> follower_state::lock_folders() {
  for (const auto& e : options.evaluations) {
    const auto folder = join_path(options.directory, e.folder);
    auto made = options.files->create_directories(folder);
    if (!made)
      return made;
    auto lock = options.files->lock(folder);
    if (!lock) {
      auto cause = lock.error();
      cause.notes.push_back("an evaluator owns the folder of its evaluations, and a directory has one evaluator");
      return fail(std::move(cause));
    }
    locks.push_back(std::move(*lock));
  }
  return {};
}

void follower_state::start() {
  if (auto owned = lock_folders(); !owned)
    return fail_with(owned.error());
  const auto& plan = *options.nodes.plan;
  std::vector<node_id> all;
  for (const auto& m : nodes.members())
    all.push_back(m.id);
  waiting.arm(follower_wait::start, options.deadlines.start);
  waiting.arm(follower_wait::first_commit, options.first_commit_within);
  waiting.arm(follower_wait::reminder, reminder_every);
  agents.start(only_attempt, plan, all);
}

void follower_state::on_started(const started& x) {
  if (!agents.on(x, nodes) || agents.awaited() || now != phase::starting)
    return;
  waiting.disarm(follower_wait::start);
  waiting.arm(follower_wait::news, options.deadlines.silence);
  now = phase::following;
  publish({.what = job_event::kind::started,
           .text = evaluations.empty() ? "waiting for the end of the job in " + options.directory
                                       : "evaluating the checkpoints of " + options.directory});
  advance();
}

/// The chief has made its first commit, or has gone back to an earlier one.
void follower_state::begin_at(const commit_seen& x) {
  judgements.begin(x.id.step, read_books(x.properties));
  for (auto& e : evaluations)
    e.schedule.begin_at(x.id);
  const auto before = load_judged(*options.files, options.directory);
  if (!before)
    return before.error().category == errc::not_found ? void() : warn(before.error().message + ": it is replaced");
  written = *before;
  const auto is_there = [&](const judged_checkpoint& at) {
    return has_checkpoint(*options.files, options.directory, at).value_or(false);
  };
  if (written.best && is_there(written.best->at))
    judgements.take_best(written.best->at.id, written.best->value);
  else
    written.best.reset();
  if (written.ends && !is_there(written.ends->at))
    written.ends.reset();
}

void follower_state::offer(checkpoint_id id) {
  for (size_t i = 0; i < evaluations.size(); ++i) {
    auto& e = evaluations[i];
    if (e.lost || e.schedule.concern(id) || e.is_done_with(id))
      continue;
    // The event file has its result: this process was started again.
    if (auto known = judgements.known_results(settings(i).name, id); known && !e.has_evaluated) {
      results.metrics[settings(i).name] = std::move(*known);
      e.schedule.recall(id);
    } else if (e.schedule.offer(id)) {
      ++superseded;
    }
  }
}

/// The checkpoints cannot be read, or have gone. What is known of them stands until there are others.
void follower_state::lose_sight() {
  const auto wait = unreadable.empty() ? follower_wait::first_commit : follower_wait::chief;
  if (!waiting.armed(wait))
    waiting.arm(wait, unreadable.empty() ? options.first_commit_within : options.chief_within);
  advance();
}

void follower_state::on_commit_seen(const commit_seen& x) {
  if (now >= phase::closing)
    return;
  waiting.arm(follower_wait::news, options.deadlines.silence);
  if (!x.warning.empty())
    warn(x.warning);
  unreadable = x.warning;
  if (!x.found && seen && seen->found)
    return lose_sight();
  const bool is_new = x.found && !(seen && seen->found && seen->id == x.id);
  const bool begins = is_new && (!seen || !seen->found || x.id.step < seen->id.step);
  seen = x;
  if (x.found)
    waiting.disarm(follower_wait::first_commit);
  if (begins)
    begin_at(x);
  if (is_new)
    waiting.arm(follower_wait::reminder, reminder_every);
  if (x.found)
    offer(x.id);
  const auto books = read_books(x.properties);
  if (books.best && books.best->id == judgements.best())
    best_hold.reset();
  if (books.ended)
    end_hold.reset();
  if (x.owned || !x.found || job_has_ended())
    waiting.disarm(follower_wait::chief);
  else if (is_new || !waiting.armed(follower_wait::chief))
    waiting.arm(follower_wait::chief, options.chief_within);
  advance();
}

void follower_state::on_request(const request& x) {
  if (x.what == request::abort)
    fail_with({errc::cancelled, "the evaluator was aborted", {}, name});
  else if (x.what == request::stop)
    stop({});
  else if (x.what == request::report)
    ask_for_report();
}

void follower_state::ask_for_report() {
  if (now == phase::ended || waiting.armed(follower_wait::report))
    return;
  if (!ask_for_reports(*self, nodes, reporting))
    return show_report();
  waiting.arm(follower_wait::report, report_answers_max);
}

void follower_state::on_standing(const standing& x) {
  if (reporting.on(x))
    show_report();
}

void follower_state::show_report() {
  waiting.disarm(follower_wait::report);
  job_report all{.seconds = seconds(),
                 .step = seen && seen->found ? seen->id.step : 0,
                 .actors = reports_of(*options.nodes.plan, options.nodes.driver, reporting)};
  all.actors.push_back(report_of(name, name, spent.counts(now_ns_of(*this))));
  options.board->report(all);
}

void follower_state::on_deadline(const deadline& x) {
  const auto over = waiting.on(x);
  if (!over)
    return;
  const auto seconds_of = [](std::chrono::milliseconds t) { return std::to_string(t.count() / 1000) + " s"; };
  switch (*over) {
    case follower_wait::start:
      return fail_with({errc::deadline_exceeded,
                        "waited " + seconds_of(options.deadlines.start) + " for " + agents.names_of_awaited()
                            + " to start the nodes",
                        {},
                        name});
    case follower_wait::first_commit:
      return fail_with({errc::deadline_exceeded,
                        "waited " + seconds_of(options.first_commit_within) + " for the chief's first checkpoint in "
                            + options.directory + " (session_creation_timeout_secs)",
                        {},
                        name});
    case follower_wait::chief:
      return fail_with({errc::deadline_exceeded,
                        "waited " + seconds_of(options.chief_within)
                            + (unreadable.empty() ? " for a chief: nobody owns " + options.directory + ", and "
                                                        + seen->prefix + " does not say that the job has ended"
                                                  : " for a directory that can be read: " + unreadable)
                            + " (chief_wait_secs)",
                        {},
                        name});
    case follower_wait::news:
      return fail_with({errc::deadline_exceeded,
                        "waited " + seconds_of(options.deadlines.silence)
                            + " for the checkpoint watcher, which looks at " + options.directory,
                        {},
                        name});
    case follower_wait::room:
      return fail_with({errc::deadline_exceeded,
                        "waited " + seconds_of(options.deadlines.silence) + " for a summary writer, which writes to "
                            + join_path(options.directory, options.evaluations[without_room.value_or(0)].folder),
                        {},
                        name});
    case follower_wait::reminder: return remind();
    case follower_wait::due: return now == phase::adopting ? adopt() : advance();
    case follower_wait::stop:
      return now == phase::adopting ? adopt()
                                    : fail_with({errc::deadline_exceeded,
                                                 "waited " + seconds_of(options.deadlines.stop)
                                                     + " for the summary writers to close the event files",
                                                 {},
                                                 name});
    case follower_wait::report: return show_report();
    case follower_wait::evaluations: break;
  }
  const auto which = static_cast<size_t>(*over) - static_cast<size_t>(follower_wait::evaluations);
  const auto& asked = evaluations[which].asked;
  lose(which, {errc::deadline_exceeded,
               "waited " + seconds_of(asked ? options.deadlines.hooks : options.deadlines.evaluation)
                   + " for the evaluator" + (settings(which).name.empty() ? "" : " of '" + settings(which).name + "'")
                   + (asked ? ", which asks the predicate " + to_text(judgements.rule(asked->what.rule)) : ""),
               {},
               name});
}

/// There has been nothing to evaluate for a while.
void follower_state::remind() {
  waiting.arm(follower_wait::reminder, reminder_every);
  const bool any = seen && seen->found;
  for (size_t i = 0; i < evaluations.size() && now == phase::following; ++i) {
    if (!evaluations[i].schedule.idle())
      continue;
    publish({.what = job_event::kind::warning,
             .step = any ? seen->id.step : 0,
             .text = any ? "no checkpoint has followed " + seen->prefix + ", which is evaluated"
                         : "there is no checkpoint in " + options.directory});
    const auto what = any ? evaluation_outcome::no_new : evaluation_outcome::missing;
    if (!listener_goes_on(i, "after", [what](evaluation_listener& l) { return l.after(what, nullptr); }))
      return;
  }
}

/// Does what there is to do, until there is nothing.
void follower_state::advance() {
  without_room.reset();
  for (auto& e : evaluations)
    if (!e.schedule.running() && !e.schedule.exports())
      e.hold.reset();
  for (bool any = true; any && now == phase::following && !stopped;) {
    any = false;
    for (size_t i = 0; i < evaluations.size() && now == phase::following && !stopped; ++i)
      any |= evaluate_next(i);
  }
  if (now == phase::following && !stopped)
    wait_for_due();
  if (!without_room)
    waiting.disarm(follower_wait::room);
  else if (!waiting.armed(follower_wait::room))
    waiting.arm(follower_wait::room, options.deadlines.silence);
  end_when_done();
  if (now != phase::ended)
    show_status();
}

void follower_state::on_down(const caf::down_msg& x) {
  const auto agent = agents.name_of(x.source);
  const auto* node = nodes.find(x.source);
  if (now == phase::ended || (!node && agent.empty()))
    return;
  const auto who = node ? node->name : "the " + agent;
  const bool evaluates = node && node->what == role::evaluator;
  const bool writes = node && node->what == role::eval_summary_writer;
  const auto which = node ? nodes.place_of(node->id) : 0;
  if (node) {
    reporting.forget(node->name);
    nodes.ended(node->id);
  }
  error cause{category_of(x.reason), who + " ended: " + describe(x.reason), {}, name};
  if (now == phase::closing) {
    return writes && x.reason ? fail_with(std::move(cause)) : end_when_done();
  }
  evaluates ? lose(which, std::move(cause)) : fail_with(std::move(cause));
}

/// An evaluator has ended or hangs.
void follower_state::lose(size_t which, error cause) {
  if (settings(which).on_failure == failure_policy::fail)
    return fail_with(std::move(cause));
  // An evaluator that hangs ends when it handles messages again.
  if (const auto* there = nodes.nth(role::evaluator, which); there->handle) {
    agents.end({there->id});
    nodes.ended(there->id);
  }
  warn(to_text(cause) + "; its evaluations end here");
  evaluations[which].lost = true;
  evaluations[which].asked.reset();
  evaluations[which].schedule.lose();
  evaluations[which].schedule.end_export();
  evaluations[which].schedule.drop_waiting();
  waiting.disarm(wait_of(which));
  if (std::all_of(evaluations.begin(), evaluations.end(), [](const followed& e) { return e.lost; }))
    return fail_with({errc::aborted, "no evaluator is left", {to_text(cause)}, name});
  advance();
}

follower_actor::behavior_type follower(follower_actor::stateful_pointer<follower_state> self,
                                       follower_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.began = self->clock().now();
  const auto& o = state.options;
  state.agents = troupe::agents{*self, o.nodes};
  state.nodes = roster{members_of(*o.nodes.plan, o.nodes.driver)};
  state.judgements = troupe::judgements{o.judged};
  for (const auto& e : o.evaluations)
    state.evaluations.push_back({evaluation_schedule{e.settings.throttle_secs, e.settings.start_delay_secs}});
  const auto kinds = static_cast<int32_t>(follower_wait::evaluations) + static_cast<int32_t>(o.evaluations.size());
  state.waiting.start(self,
                      waits{kinds, waits::period_for({o.deadlines.start, o.first_commit_within, o.chief_within,
                                                      o.deadlines.evaluation, o.deadlines.stop, report_answers_max})});
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_down(x); });
  state.start();
  return counted<follower_actor>(
      state, [&state](const started& x) { state.on_started(x); },
      [&state](const commit_seen& x) { state.on_commit_seen(x); },
      [&state](const batches_evaluated& x) {
        if (const auto which = static_cast<size_t>(x.evaluation); which < state.evaluations.size())
          state.evaluations[which].schedule.reach(x.id, x.batches);
        state.show_status();
      },
      [&state](const evaluated& x) { state.on_evaluated(x); }, [&state](const exported& x) { state.on_exported(x); },
      [&state](const rule_applied& x) { state.on_rule_applied(x); },
      [&state](const record_credit& x) { state.on_record_credit(x); },
      [&state](const failure& x) { state.fail_with(x.what); }, [&state](const log_replaced& x) { state.warn(x.text); },
      [&state](const standing& x) { state.on_standing(x); }, [&state](const request& x) { state.on_request(x); },
      [&state](const deadline& x) { state.on_deadline(x); });
}

}  // namespace troupe
