#include "actors/chief/chief_subjects.hpp"
#include "actors/chief/decisions.hpp"
#include "actors/chief/late_messages.hpp"
#include "actors/exit_reason.hpp"
#include "messages/counted.hpp"
#include "words/checkpoint_books.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

static void begin_hooks(chief_state& c, int64_t step);
static void begin_training(chief_state& c);
static void end_at_once(chief_state& c);

// -- starting ------------------------------------------------------------------------------

void start_nodes_of(chief_state& c, const std::vector<node_id>& who) {
  c.agents.start(c.attempt, c.plan(), who);
  c.arm(chief_wait::nodes, c.options.deadlines.start);
}

static void start_all(chief_state& c) {
  c.origin.began = c.self->clock().now();
  c.nodes = roster{members_of(c.plan(), c.options.nodes.driver)};
  c.agents = troupe::agents{*c.self, c.options.nodes};
  c.horizon = c.fresh_horizon();
  std::vector<node_id> all;
  for (const auto& m : c.nodes.members())
    all.push_back(m.id);
  start_nodes_of(c, all);
}

/// New nodes are connected even if the attempt has failed meanwhile, because the next attempt keeps them.
static void on_started(chief_state& c, const started& x) {
  if (!c.agents.on(x, c.nodes))
    return;
  for (const auto& text : x.warnings)
    warn_of_node(c, text);
  if (c.agents.awaited())
    return;
  c.disarm(chief_wait::nodes);
  if (c.ending.failing() == failing::replacing)
    return save_with_new_writer(c);
  if (!planted(planted_fault::begin_before_connect) || c.attempt == 1)
    c.around().connect(c.agents.newcomers());
  if (c.attempt == 1 && c.callbacks())
    c.self->send(c.callbacks(), c.options.values);
  if (c.ending.causes.empty())
    restore_state(c);
}

/// The replicas of a group share its store, and none of them is inside a step. So the first replica owns the store
/// until all begin. A group that was dropped has no owner.
void restore_state(chief_state& c) {
  restore news{c.attempt, {}, c.options.stored};
  // The job ends there and wants no other plan, or its search evaluates the state first.
  if (auto& ends_at = news.of.iteration.ends_at;
      ends_at && (c.searching.on() ? c.searching.demands_any() : !c.iteration_ends_at(*ends_at)))
    ends_at.reset();
  const auto has_owner = [&](group_id group) {
    return std::any_of(news.owners.begin(), news.owners.end(),
                       [group](const state_owner& o) { return o.group == group; });
  };
  for (const auto& m : c.nodes.members())
    if (m.what == role::replica && !c.groups.is_dropped(m.group) && !has_owner(m.group))
      news.owners.push_back({m.group, caf::actor_cast<state_owner_actor>(m.handle)});
  c.self->send(c.writer(), std::move(news));
  c.arm(chief_wait::start, c.options.deadlines.start);
}

/// The infeeds whose positions a checkpoint has. The own data of a group begin with its iteration, and are not read
/// once it has left.
static std::vector<const plan_node*> infeeds_of(const chief_state& c, bool is_grown) {
  std::vector<const plan_node*> all;
  for (const auto& m : c.nodes.members())
    if (const auto& n = c.plan().at(m.id);
        n.what == role::infeed && (!n.own || (!is_grown && !c.groups.has_left(n.own->group))))
      all.push_back(&n);
  return all;
}

/// Each infeed begins at its own saved position, or at the beginning if it has none.
static void begin_infeeds(chief_state& c, int64_t step, const std::map<std::string, std::string>& positions) {
  for (const auto& m : c.nodes.members()) {
    if (m.what != role::infeed || !m.handle)
      continue;
    begin news{c.attempt, step};
    if (const auto own = positions.find(position_key(c.plan().at(m.id))); own != positions.end())
      news.position = own->second;
    c.self->send(caf::actor_cast<infeed_actor>(m.handle), std::move(news));
  }
}

static void on_restored(chief_state& c, const restored& x) {
  if (!c.waiting.armed(chief_wait::start) || c.flushing())
    return;  // Too late: a node has died meanwhile.
  c.disarm(chief_wait::start);
  if (!x.found && c.told.saved)
    return fail_after_save(c, nothing_left(c));
  // A plan made for these books exists already, if they want another plan than the first one.
  const bool any_plan_will_do = c.options.stored.one_of_several && x.found;
  if (auto same = check_origin(c.options.planned_from, x); !same && !c.origin.known && !any_plan_will_do)
    return fail_now(c, same.error());
  if (!begin_search(c, x))
    return;
  c.now = chief_phase::restoring;
  if (c.options.copies)
    c.next.recovery.committed(x.id.step);
  const auto books = read_books(x.properties);
  if (c.told.saved && c.told.saved->step > x.id.step)
    c.told.saved = x.id;  // Newer commits are damaged or gone; their steps are made again.
  if (!std::exchange(c.origin.known, true)) {
    c.origin.start_step = x.id.step;
    if (x.found)
      c.told.saved = c.origin.came_from = x.id;
    else
      c.origin.warm_start = books.warm_start;
    c.origin.first_step = books.first_step.value_or(x.id.step);
  }
  // A finished job reads its data from the beginning; an interrupted one continues at its positions. A job that
  // recovers to its own last commit has finished there.
  c.verdicts.books_name(x.id.step, c.judgements.begin(x.id.step, books));
  const bool is_grown = x.found && x.id.iteration < c.options.stored.iteration.number;
  c.evaluations.begin(x.id);
  if (is_grown)
    // The last iteration evaluated this state; the new members beside it do not change that.
    c.evaluations.pass_over({x.id.step, c.options.stored.iteration.number});
  const bool has_finished = books.finished.value_or(false);
  if (has_finished)
    c.verdicts.finish_is_said(x.id.step);
  const bool data_anew = c.origin.data_anew = has_finished && c.origin.came_from == x.id && !c.options.continues_data;
  c.saves.start_from(x);
  c.facts.progress.begin(x.id.step);
  const bool more = has_finished && c.origin.came_from == x.id;
  c.horizon.begin(x.id.step, has_finished && !more ? x.id.step : c.goal());
  c.told.later.insert(c.told.later.begin(), x.warnings.begin(), x.warnings.end());
  // A group that has left belongs to the previous iteration.
  c.groups.restore(x.id.step, is_grown ? checkpoint_books{} : books);
  std::map<std::string, std::string> positions;
  if (x.found && !data_anew) {
    auto known = positions_for(x.prefix, x.blobs, infeeds_of(c, is_grown));
    if (!known && !c.options.data_may_change)
      return fail_now(c, known.error());
    if (known)
      positions = std::move(*known);
    else
      c.told.later.push_back("the data begin anew: " + known.error().message);
  }
  const auto other_rate = c.rates.begin(x.id.step, books.rate_factor.value_or(1));
  const begin news{
      c.attempt, x.id.step, {}, c.rates.at(x.id.step), c.loops.begin(x.id.step, c.origin.first_step, books.loop)};
  c.results.open_loop = {};
  c.self->send(c.outfeed(), news);
  c.tell_replicas(news);
  if (other_rate)
    set_rate(c, x.id.step, *other_rate);
  begin_infeeds(c, x.id.step, positions);
  begin_groups(c);
  if (c.attempt > 1 && !c.next.growth.by_plan)
    c.publish({.what = job_event::kind::recovered,
               .step = x.id.step,
               .text = x.prefix,
               .checkpoint = x.found ? std::optional{x.id} : std::nullopt,
               .attempt = c.attempt});
  if (!c.groups.any_remains())
    return fail_now(c, c.groups.first_cause());
  // A rule that already holds ends the job here: it was added since, or its end was not recorded.
  if (!c.judgements.ended_before())
    if (auto found = ask_predicates(c, c.judgements.rule_at_start(), {}); !found)
      return fail_after_save(c, std::move(found.error()));
  c.show_status();            // Shown here, because this phase may end within the turn.
  begin_hooks(c, x.id.step);  // Training begins once the hooks have returned from this, or from `recovered`.
  tell_created(c, x.id.step);
}

/// Hooks of the job begin once, and those of groups with each plan.
static void begin_hooks(chief_state& c, int64_t step) {
  const bool first = !std::exchange(c.told.begin, true);
  const bool of_groups = std::exchange(c.told.hooks, c.options.hooks) != c.options.hooks;
  if (!c.callbacks() || (!first && !of_groups))
    return;
  fact f;
  f.what = fact::begin_at;
  f.at = step;
  if (of_groups) {
    c.told.watch.reset();  // The new hooks may want this state, too; the others pass over it.
    f.of_plan = c.options.hooks ? c.options.hooks : std::make_shared<const group_hooks>();
    if (!c.next.growth.by_plan)
      f.news.failure = error{errc::aborted, "the job goes on from an older checkpoint, of another iteration"};
  }
  c.tell(std::move(f));
}

std::optional<int64_t> chief_state::goal() const {
  if (searching.on())
    return searching.ends_at();
  const auto ends_at = options.stored.iteration.ends_at;
  return ends_at && iteration_ends_at(*ends_at) ? ends_at : job_goal();
}

std::optional<int64_t> chief_state::job_goal() const {
  std::optional<int64_t> goal = options.max_steps;
  if (options.steps) {
    int64_t end = 0;
    if (__builtin_add_overflow(origin.start_step, *options.steps, &end))
      end = INT64_MAX;
    goal = std::min(goal.value_or(INT64_MAX), end);
  }
  return goal;
}

/// Begins training once the hooks have answered all facts and the predicates have answered.
bool begin_when_ready(chief_state& c) {
  if (c.now != chief_phase::restoring || c.facts.unanswered() > 0 || !c.questions.empty() || c.flushing()
      || c.ending.fails())
    return false;
  begin_training(c);
  return true;
}

static void begin_training(chief_state& c) {
  if (planted(planted_fault::begin_before_connect))
    c.around().connect(c.agents.newcomers());
  c.now = chief_phase::training;
  if (std::exchange(c.next.growth, {}).by_plan)
    tell_growth(c);
  if (c.wishes.pause)
    c.waiting.freeze();
  const auto end_at = c.horizon.end();
  const bool nothing_left = (end_at && *end_at <= c.horizon.began_at()) || c.judgements.ended_before()
                            || c.judgements.has_ended();
  const bool first = !std::exchange(c.told.start, true);
  std::string how = c.origin.warm_start.empty() ? "a fresh start" : "a warm start with " + c.origin.warm_start;
  if (c.saves.last_commit())
    how = "resumed from " + c.saves.prefix()
          + (nothing_left                ? ""
             : c.origin.data_anew        ? "; the data begin anew, as the job had finished"
             : c.options.data_may_change ? ""  // A warning says if they begin anew.
                                         : "; the data go on where they stood");
  if (first)
    c.publish({.what = job_event::kind::started,
               .step = c.origin.start_step,
               .max_steps = c.shown_end(),
               .text = std::move(how)});
  for (const auto& w : std::exchange(c.told.later, {}))
    if (c.told.warnings.insert(w).second)
      c.warn(c.horizon.began_at(), w);
  if (nothing_left && c.horizon.began_at() == c.origin.start_step && !c.iteration_ends_at(c.horizon.began_at()))
    return end_at_once(c);  // Also if an earlier attempt to do so has failed.
  if (nothing_left) {
    if (const auto& before = c.judgements.ended_before())
      c.ending.remark = "ended " + *before;
    else if (c.judgements.has_ended())
      c.ending.remark = "ended early: " + c.judgements.why_ended();
    else if (c.goal().value_or(INT64_MAX) > c.horizon.began_at())
      c.ending.remark = data_ended_text(c.horizon.began_at(), c.goal());
    c.horizon.end_at(c.horizon.began_at(), job_end::finished);
  }
  if (first && c.summaries())
    c.self->send(c.summaries(), note{note::start, c.origin.start_step, {}});
  // With checkpoints, an attempt begins with a save. A new job commits its first state, and a job that has grown
  // commits the state from which its new plan goes on. A resumed job only verifies the checkpoint that it came from and
  // lists it again.
  std::vector<mark> marks;
  if (c.options.checkpoints) {
    place_save(c, c.horizon.began_at());
    marks.push_back({c.horizon.began_at(), mark_snapshot});
  }
  if (nothing_left)
    marks.push_back({c.horizon.began_at(), mark_end});
  if (c.gates.shows(c.horizon.began_at()) && (!c.told.watch || *c.told.watch < c.horizon.began_at())) {
    marks.push_back({c.horizon.began_at(), mark_watch});
    c.gates.marked(c.horizon.began_at());
    c.facts.marked(c.horizon.began_at());
  }
  grant_up_to(c, c.horizon.began_at(), std::move(marks));
  session_begins(c);
  // The commit is verified and listed again; an evaluation or a verdict of it may be due.
  if (nothing_left) {
    c.now = chief_phase::draining;
    return;
  }
  if (c.options.save_secs && c.options.checkpoints)
    c.arm(chief_wait::next_save, c.save_period(), c.session.on());
  if (c.options.summary_secs && c.summaries()) {
    c.horizon.record_next();
    arm_next_record(c);
  }
  if (c.options.max_secs && !c.waiting.armed(chief_wait::max_secs))
    c.arm(chief_wait::max_secs,
          std::chrono::milliseconds(static_cast<int64_t>(std::clamp(*c.options.max_secs, 0.01, 3e7) * 1000)));
  if (std::exchange(c.wishes.save, false) && c.options.checkpoints && c.saves.may_save_now())
    // Otherwise the save follows the one that was just placed.
    mark_here(c, mark_snapshot);
  follow_verdict(c);
  if (c.ending.stops())
    drain(c, c.horizon.until(), job_end::stopped);
  else if (c.searching.on())
    follow_search(c, {});  // A group may have been stopped while hooks heard of the recovery.
}

/// The job is already at or beyond its end.
static void end_at_once(chief_state& c) {
  const auto goal = c.horizon.end();
  const auto here = c.horizon.began_at();
  const auto* search_end = c.searching.on() ? c.searching.ends() : nullptr;
  c.ending.remark = "nothing to train: " + (c.saves.prefix().empty() ? "the job" : c.saves.prefix())
                    + (search_end ? " ends the search: " + search_end->text
                       : goal && *goal <= here
                           ? " stands at step " + std::to_string(here) + " already, and the job ends at "
                                 + std::to_string(*goal)
                           : " has ended "
                                 + c.judgements.ended_before().value_or("early: " + c.judgements.why_ended()));
  c.horizon.end_at(here, job_end::finished);
  if (goal && *goal < here)
    c.verdicts.finish_is_said(here);  // There is nothing to say: a job with another goal may go on from there.
  // A process that failed with its last save has not said that the job finishes there.
  const bool is_unsaid = c.options.checkpoints && goal == here && !c.ended_by_rule() && !c.verdicts.says_finish(here);
  if ((!c.evaluations.any() && !demands_evaluation(c) && !is_unsaid) || !c.saves.last_commit())
    return end(c);
  c.now = chief_phase::draining;
  recall_evaluations(c, *c.saves.last_commit());
  c.evaluations.offer_last(*c.saves.last_commit());
}

static void on_log_replaced(chief_state& c, const log_replaced& x) { c.warn(c.horizon.reached(), x.text); }

namespace {

template <class M>
late meaning_of(const M& x, const chief_state& state) {
  if (state.ends() && lateness_of<M>().at_the_end != late::heard)
    return lateness_of<M>().at_the_end;
  if constexpr (requires { x.attempt; })
    if (x.attempt != state.attempt)
      return lateness_of<M>().in_another_attempt;
  return late::heard;
}

/// How every message is handled: what it means if it is late, its handler, then the round of `advance`.
template <class M>
auto hears(chief_state& state, void (*handler)(chief_state&, const M&)) {
  return [&state, handler](const M& x) {
    const auto meaning = meaning_of(x, state);
    if (meaning == late::heard)
      handler(state, x);
    if constexpr (lateness_of<M>().in_another_attempt == late::unleased)
      if (meaning == late::unleased)
        state.self->send(state.writer(), unlease{x.id});
    if (!planted(planted_fault::event_forgotten) || !std::is_same_v<M, answered>)
      state.advance();
  };
}

}  // namespace

chief_actor::behavior_type chief(chief_actor::stateful_pointer<chief_state> self, chief_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.loops = troupe::loops{state.options.loop};
  if (state.options.session)
    state.session.open();
  const auto& limits = state.options.deadlines;
  state.evaluations = evaluations{state.options.evaluations};
  state.judgements = troupe::judgements{state.options.judged};
  state.groups = groups{state.options.groups};
  if (state.options.search) {
    state.searching = troupe::searching{*state.options.search};
    state.searching.use(state.options.blobs, state.options.groups);
  }
  state.next.recovery = recovery{state.options.recovery};
  state.waiting.start(self, waits{chief_wait_kinds(state.evaluations.size()),
                                  waits::period_for({limits.start, limits.silence, limits.save, limits.evaluation,
                                                     limits.hooks, limits.stop, limits.cut, state.save_period()})});
  self->set_down_handler([&state](const caf::down_msg& x) {
    on_down(state, x);
    state.advance();
  });
  start_all(state);
  state.advance();
  return counted<chief_actor>(
      state, hears(state, on_started), hears(state, on_prepared), hears(state, on_newest), hears(state, on_restored),
      hears(state, on_progress), hears(state, on_stream_end), hears(state, on_lane), hears(state, on_input_failed),
      hears(state, on_input_warned), hears(state, on_log_replaced), hears(state, on_failure), hears(state, on_flushed),
      hears(state, on_halted), hears(state, on_standing), hears(state, on_committed), hears(state, on_save_failed),
      hears(state, on_late_properties_kept), hears(state, on_state_shown), hears(state, on_batches_evaluated),
      hears(state, on_evaluated), hears(state, on_exported), hears(state, on_rule_applied),
      hears(state, on_record_credit), hears(state, on_verdict_seen), hears(state, on_hooks_ready),
      hears(state, on_answered), hears(state, on_hooks_ended), hears(state, on_request), hears(state, on_run_until),
      hears(state, on_read_variables), hears(state, on_variables_read),
      [&state](const deadline& x) { on_deadline(state, x); });
}

}  // namespace troupe
