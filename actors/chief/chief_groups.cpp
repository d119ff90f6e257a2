// The chief when a group leaves or retires, and the job goes on with the others.
#include "actors/chief/chief.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

departed chief_state::departed_of(group_id group) const {
  departed news{attempt, groups.left().at(group).first_state, {}};
  for (const auto& m : nodes.members())
    if (m.what == role::replica && m.group == group)
      news.replicas.push_back({m.id});
  return news;
}

/// All replicas of the group have stopped at the step that failed, and its readers have, or will have, what precedes it.
bool chief_state::lose_group(const stream_end& x) {
  const auto* who = nodes.find(x.replica);
  if (!who)
    return false;
  if (groups.has_left(who->group))
    return true;  // It says its end again, to another receiver of reports.
  if (x.kind != end_kind::failed || ending.fails() || ending.state() >= end_state::ended || !groups.leaves_for(who->group, x.cause))
    return false;
  groups.leave_at(x.step, who->group, x.cause);
  if (const auto text = groups.text_of(who->group); told.warnings.insert(text).second)
    warn(x.step, text);
  // Books that were sent ahead do not say it. Where a summary writer passes them on, those of later states have not been sent.
  if (!summaries())
    for (const auto step : saves.steps())
      if (step > x.step)
        send_books(step);
  tell_departed(who->group);
  return true;
}

/// The group without which the next attempt could begin, where its nodes alone have failed.
std::optional<group_id> chief_state::group_to_drop() const {
  const auto group = ending.causes.only_group();
  return group && groups.may_drop(*group) && options.checkpoints && writer() && !ending.stops() ? group : std::nullopt;
}

void chief_state::tell_departed(group_id group) {
  const auto news = departed_of(group);
  self->send(outfeed(), news);
  self->send(writer(), news);
  options.nodes->remove(group, attempt, groups.left().at(group).step);
}

/// Before anything is granted, so that no replica is past its step.
void chief_state::begin_groups() {
  for (const auto& [group, how] : groups.left()) {
    told.later.push_back(groups.text_of(group));
    tell_departed(group);
  }
  for (const auto& policy : groups.policies())
    if (policy.retires_at)
      for (const auto& m : nodes.members())
        if (m.what == role::replica && m.group == policy.id && m.handle && !groups.has_left(policy.id))
          self->send(caf::actor_cast<replica_actor>(m.handle), retire{attempt, *policy.retires_at});
}

std::string chief_state::remark() const {
  const auto of_groups = groups.text();
  return ending.remark + (ending.remark.empty() || of_groups.empty() ? "" : "; ") + of_groups;
}

}  // namespace troupe
