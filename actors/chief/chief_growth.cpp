// The chief between two plans.
//
//   training ──end mark, commit {s, t}──► grow ──► name_newest ──► checkpoint writer ── newest ──┐
//                                          └──► end_nodes, of those that do not live on ── downs┴──► prepare ──► agents
//                                                                                                                  │
//      begin ◄── restored ◄── restore ◄── started ◄── start_nodes ◄── adopt ◄── prepared ◄─────────────────────────┘
//
// A job that restores the newest whole commit, and whose plan is another, goes from its `newest` the same way.
#include "actors/chief/chief_subjects.hpp"
#include "actors/chief/decisions.hpp"
#include "words/planted.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

static void end_iteration(chief_state& c);

/// Whether another iteration follows at that state. None follows where the job itself ends.
bool chief_state::iteration_ends_at(int64_t step) const {
  if (searching.on())
    return searching.goes_on_after(step);
  return options.stored.iteration.ends_at == step && step < job_goal().value_or(INT64_MAX);
}

bool grows(const chief_state& c) {
  return c.iteration_ends_at(c.horizon.reached()) && c.horizon.end() == c.horizon.reached() && c.horizon.end_is_final()
         && !c.ending.stops() && !c.ending.fails() && !c.judgements.has_ended() && c.saves.last_commit()
         && c.saves.last_commit()->step == c.horizon.reached();
}

/// Requires that the last state of the iteration is committed, evaluated and told.
void grow(chief_state& c) {
  begin_books(c);
  c.next.growth = {.by_plan = true};
  if (planted(planted_fault::growth_spends_budget))
    c.next.recovery.decide({.cause = error{errc::aborted, "growth"}, .step = c.horizon.reached()});
  c.self->send(c.writer(), name_newest{c.attempt});
  c.arm(chief_wait::newest, c.options.deadlines.start);
  end_iteration(c);
}

static bool lives_on(const member& m) { return row_of(m.what).outlives_iteration; }

/// The end of these nodes is not a failure.
static void end_iteration(chief_state& c) {
  c.now = chief_phase::growing;
  for (const auto w : {chief_wait::reports, chief_wait::answers, chief_wait::commit, chief_wait::next_save,
                       chief_wait::cut, chief_wait::news})
    c.disarm(w);
  std::vector<node_id> ids;
  for (const auto what : ending_order())
    for (const auto& m : c.nodes.members())
      if (m.what == what && m.handle && !lives_on(m))
        ids.push_back(m.id);
  if (!planted(planted_fault::planned_end_is_death))
    c.next.growth.leaving.insert(ids.begin(), ids.end());
  c.agents.end(ids);
  c.agents.interrupt(cancel::all);
}

void on_newest(chief_state& c, const newest& x) {
  const bool asked = c.waiting.armed(chief_wait::newest);
  if (!asked && (!c.waiting.armed(chief_wait::start) || c.flushing()))
    return;  // Too late: a node has died meanwhile.
  c.disarm(chief_wait::newest);
  c.disarm(chief_wait::start);
  if (!x.found)
    return fail_after_save(c, nothing_left(c));
  c.next.growth.books = x;
  if (choose_next(c, asked) && !asked)
    end_iteration(c);
}

bool go_on_when_gone(chief_state& c) {
  auto& growth = c.next.growth;
  if (c.ends() || !growth.leaving.empty() || !c.ending.causes.empty())
    return false;
  if (std::exchange(growth.starts, false)) {
    start_missing(c);
    return true;
  }
  if (c.now != chief_phase::growing || !growth.books)
    return false;
  const auto books = *std::exchange(growth.books, std::nullopt);
  // The commit that would end the iteration is damaged, and an older one is the newest.
  if (c.options.stored.iteration.goes_on_from(books.id)) {
    start_missing(c);
    return true;
  }
  c.now = chief_phase::preparing;
  c.agents.ask_to_prepare(c.attempt, books);
  c.arm(chief_wait::preparation, c.options.deadlines.preparation);
  return true;
}

void on_prepared(chief_state& c, const prepared& x) {
  if (c.now != chief_phase::preparing || !c.agents.on(x))
    return;
  if (!x.plan) {
    c.agents.give_up();
    c.disarm(chief_wait::preparation);
    return fail_after_save(c, x.cause);
  }
  if (c.agents.prepares())
    return;
  c.disarm(chief_wait::preparation);
  adopt(c, *x.plan);
  c.now = chief_phase::growing;
  start_missing(c);
}

void chief_options::use(const attempt_plan& next) {
  nodes.plan = next.plan;
  stored = next.stored;
  groups = (*next.plan)->groups;
  blobs = next.blobs;
  remarks = next.remarks;
  hooks = next.hooks;
  values = {next.outputs, next.observed};
  stops_at_infeeds = next.plan->at(nodes.driver).stops_at_infeeds;
  for (size_t i = 0; i < std::min(evaluations.size(), next.evaluated_groups.size()); ++i)
    evaluations[i].groups = next.evaluated_groups[i];
}

/// Nodes that outlive the iteration keep their numbers, names and handles.
void adopt(chief_state& c, const attempt_plan& next) {
  roster nodes{members_of(*next.plan, c.options.nodes.driver)};
  for (const auto& m : c.nodes.members())
    if (m.handle && lives_on(m))
      nodes.started(m.id, m.handle);
  c.nodes = std::move(nodes);
  c.options.use(next);
  if (c.searching.on())
    c.searching.use(c.options.blobs, c.options.groups);
  c.groups = groups{c.options.groups};
  c.evaluations.evaluate_groups(next.evaluated_groups);
  c.self->send(c.callbacks(), c.options.values);
}

void start_missing(chief_state& c) {
  std::vector<node_id> missing;
  for (const auto& m : c.nodes.members()) {
    const bool is_lost = m.what == role::evaluator && c.evaluations.is_lost(c.nodes.place_of(m.id));
    const bool is_dropped = row_of(m.what).in_group && c.groups.is_dropped(m.group);
    if (!m.handle && !is_lost && !is_dropped)
      missing.push_back(m.id);
  }
  start_nodes_of(c, missing);
}

}  // namespace troupe
