// The chief when a group leaves or retires, and the job goes on with the others.
#include "actors/chief/chief_subjects.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

static void tell_departed(chief_state& c, group_id group);

departed departed_of(const chief_state& c, group_id group) {
  departed news{c.attempt, c.groups.left().at(group).first_state, {}};
  for (const auto& m : c.nodes.members())
    if (m.what == role::replica && m.group == group)
      news.replicas.push_back({m.id});
  return news;
}

/// All replicas of the group have stopped at the step that failed, and its readers have, or will have, what precedes it.
bool lose_group(chief_state& c, const stream_end& x) {
  const auto* who = c.nodes.find(x.replica);
  if (!who)
    return false;
  if (c.groups.has_left(who->group))
    return true;  // It says its end again, to another receiver of reports.
  if (x.kind != end_kind::failed || c.ending.fails() || c.ending.state() >= end_state::ended || !c.groups.leaves_for(who->group, x.cause))
    return false;
  c.groups.leave_at(x.step, who->group, x.cause);
  if (const auto text = c.groups.text_of(who->group); c.told.warnings.insert(text).second)
    c.warn(x.step, text);
  // Books that were sent ahead do not say it. Where a summary writer passes them on, those of later states have not been sent.
  if (!c.summaries())
    for (const auto step : c.saves.steps())
      if (step > x.step)
        send_books(c, step);
  tell_departed(c, who->group);
  return true;
}

/// The group without which the next attempt could begin, where its nodes alone have failed.
std::optional<group_id> chief_state::group_to_drop() const {
  const auto group = ending.causes.only_group();
  return group && groups.may_drop(*group) && options.checkpoints && writer() && !ending.stops() ? group : std::nullopt;
}

static void tell_departed(chief_state& c, group_id group) {
  const auto news = departed_of(c, group);
  c.self->send(c.outfeed(), news);
  c.self->send(c.writer(), news);
  c.options.nodes->remove(group, c.attempt, c.groups.left().at(group).step);
}

/// Before anything is granted, so that no replica is past its step.
void begin_groups(chief_state& c) {
  for (const auto& [group, how] : c.groups.left()) {
    c.told.later.push_back(c.groups.text_of(group));
    tell_departed(c, group);
  }
  for (const auto& policy : c.groups.policies())
    if (policy.retires_at)
      for (const auto& m : c.nodes.members())
        if (m.what == role::replica && m.group == policy.id && m.handle && !c.groups.has_left(policy.id))
          c.self->send(caf::actor_cast<replica_actor>(m.handle), retire{c.attempt, *policy.retires_at});
}

std::string chief_state::remark() const {
  const auto of_groups = groups.text();
  return ending.remark + (ending.remark.empty() || of_groups.empty() ? "" : "; ") + of_groups;
}

}  // namespace troupe
