// The chief when a group leaves or retires while the job goes on with the others.
#include "actors/chief/chief_subjects.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

static std::vector<std::string> tell_departed(chief_state& c, const std::vector<group_id>& leaving);
static void warn_once(chief_state& c, int64_t step, const std::string& text);
static std::optional<int64_t> retirement_of(const chief_state& c, const plan_group& group);
static void tell_retired(chief_state& c, const plan_group& group, int64_t at);

/// Whether the member is the infeed of the group's own data.
static bool feeds_alone(const chief_state& c, const member& m, group_id group) {
  const auto& own = c.plan().at(m.id).own;
  return own && own->group == group;
}

departed departed_of(const chief_state& c, group_id group) {
  departed news{c.attempt, c.groups.left().at(group).first_state, {}, write_books(c.groups.book_of(group))};
  for (const auto& m : c.nodes.members())
    if ((m.what == role::replica && m.group == group) || feeds_alone(c, m, group))
      news.replicas.push_back({m.id});
  return news;
}

/// All replicas of the group have stopped at the failed step, and its readers have, or will have, everything before it.
/// So the groups that fall with it have stopped at that step, too, and their earlier steps are reported.
bool lose_group(chief_state& c, const stream_end& x) {
  const auto* who = c.nodes.find(x.replica);
  if (!who)
    return false;
  if (c.groups.has_left(who->group))
    return true;  // The group repeats its end for another receiver of reports.
  if (x.kind != end_kind::failed || c.ending.state() >= end_state::ended || !c.groups.leaves_for(who->group, x.cause))
    return false;
  const bool saves = c.ending.failing() == failing::saving || c.ending.failing() == failing::replacing;
  if (!c.ending.causes.empty() && !saves)
    return true;  // The attempt fails for another cause; if another one follows, it reaches this step again.
  const auto leaving = c.groups.leave_at(x.step, who->group, x.cause);
  for (const auto group : leaving)
    warn_once(c, x.step, c.groups.text_of(group));
  if (!c.groups.any_remains())
    return false;
  if (c.searching.on()) {
    const auto& left = c.groups.left().at(who->group);
    const auto heard = c.searching.dropped(c.plan().group(who->group).name, left.step, left.why);
    follow_search(c, heard);
    if (!heard)
      return true;
  }
  for (const auto& text : tell_departed(c, leaving))
    warn_once(c, x.step, text);
  return true;
}

static void warn_once(chief_state& c, int64_t step, const std::string& text) {
  if (c.told.warnings.insert(text).second)
    c.warn(step, text);
}

/// The group without which the next attempt could begin, if only its nodes have failed.
std::optional<group_id> chief_state::group_to_drop() const {
  const auto group = ending.causes.only_group();
  return group && groups.may_drop(*group) && options.checkpoints && writer() && !ending.stops() ? group : std::nullopt;
}

/// A group that falls with another is not told that the other has left: it would go on with zeros. Returns warnings
/// about evaluations that end.
static std::vector<std::string> tell_departed(chief_state& c, const std::vector<group_id>& leaving) {
  std::vector<std::string> warnings;
  std::map<group_id, int64_t> steps;
  for (const auto group : leaving) {
    const auto news = departed_of(c, group);
    c.self->send(c.outfeed(), news);
    c.self->send(c.writer(), news);
    steps.emplace(group, c.groups.left().at(group).step);
    if (c.searching.on())
      continue;  // Its evaluations go on with the candidates that are left.
    for (const auto which : c.evaluations.leave(group, news.first_state)) {
      const auto& name = c.evaluations.settings(which).name;
      warnings.push_back("the evaluation " + (name.empty() ? "" : quoted(name) + " ")
                         + "ends with a group that it evaluates: " + c.groups.text_of(group));
    }
  }
  std::set<group_id> gone;
  for (const auto& [group, how] : c.groups.left())
    gone.insert(group);
  c.around().leave(steps, gone, c.attempt);
  return warnings;
}

/// Called before anything is granted, so that no replica is past the step of its group.
void begin_groups(chief_state& c) {
  std::vector<group_id> gone;
  for (const auto& [group, how] : c.groups.left()) {
    c.told.later.push_back(c.groups.text_of(group));
    gone.push_back(group);
  }
  for (auto& text : tell_departed(c, gone))
    c.told.later.push_back(std::move(text));
  for (const auto& policy : c.groups.policies())
    if (const auto at = retirement_of(c, policy); at && !c.groups.has_left(policy.id))
      tell_retired(c, policy, *at);
}

/// The state from which the group does not train any more: that of the plan, or one that was decided since.
static std::optional<int64_t> retirement_of(const chief_state& c, const plan_group& group) {
  const auto stop = c.searching.on() ? c.searching.stop_of(group.name) : std::nullopt;
  return stop ? lesser(group.retires_at, group.begins_at + stop->step) : group.retires_at;
}

/// The outfeed knows what the plan says.
static void tell_retired(chief_state& c, const plan_group& group, int64_t at) {
  const retire news{c.attempt, at, group.id};
  for (const auto& m : c.nodes.members())
    if (m.what == role::replica && m.group == group.id && m.handle)
      c.self->send(caf::actor_cast<replica_actor>(m.handle), news);
    else if (m.handle && feeds_alone(c, m, group.id))
      c.self->send(caf::actor_cast<infeed_actor>(m.handle), news);
  if (at != group.retires_at)
    c.self->send(c.outfeed(), news);
}

/// No replica has passed the horizon. An iteration of no step would lead to the next one at the same state, and so on
/// for ever, so each group makes one step at least.
void retire_group(chief_state& c, group_id group, int64_t begins_at, spec_stop stop) {
  const auto& all = c.groups.policies();
  const auto of = std::find_if(all.begin(), all.end(), [group](const plan_group& g) { return g.id == group; });
  if (of == all.end() || of->begins_at != begins_at)
    return;
  const auto at = std::max(c.horizon.until(), of->begins_at + 1);
  if (!c.searching.on() || !(c.now == chief_phase::restoring || c.trains()) || c.ending.fails()
      || c.groups.has_left(group) || retirement_of(c, *of).value_or(INT64_MAX) <= at)
    return;
  tell_retired(c, *of, at);
  stop.step = at - of->begins_at;
  follow_search(c, c.searching.stopped(of->name, std::move(stop)));
}

std::string chief_state::remark() const {
  const auto of_groups = groups.text();
  return ending.remark + (ending.remark.empty() || of_groups.empty() ? "" : "; ") + of_groups;
}

}  // namespace troupe
