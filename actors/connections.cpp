#include "actors/connections.hpp"

#include "words/planted.hpp"

#include <caf/local_actor.hpp>
#include <caf/send.hpp>

#include <tuple>

namespace troupe {

template <class M>
void neighbourhood::tell(const caf::strong_actor_ptr& node, M message) const {
  caf::send_as(caf::actor_cast<caf::actor>(&driver), caf::actor_cast<caf::typed_actor<caf::reacts_to<M>>>(node),
               std::move(message));
}

void neighbourhood::connect(const plan_edge& e) const {
  const auto *from = nodes.find(e.from), *to = nodes.find(e.to);
  if (!from || !to || !from->handle || !to->handle)
    return;  // A chief is not a node of its own roster: it knows the receiver of its part.
  switch (e.kind) {
    case edge_kind::data:
    case edge_kind::call:
      tell(from->handle, connect_reader{e.id, caf::actor_cast<block_sink_actor>(to->handle)});
      return tell(to->handle, connect_source{e.id, caf::actor_cast<credit_source_actor>(from->handle)});
    case edge_kind::report: return tell(from->handle, connect_reports{caf::actor_cast<report_sink_actor>(to->handle)});
    case edge_kind::gradient:
      return tell(from->handle, connect_reducer{caf::actor_cast<gradient_sink_actor>(to->handle)});
    case edge_kind::part: return tell(from->handle, connect_parts{caf::actor_cast<part_sink_actor>(to->handle)});
    case edge_kind::record: return tell(from->handle, connect_records{caf::actor_cast<record_sink_actor>(to->handle)});
  }
}

void neighbourhood::connect(const std::set<node_id>& started) const {
  for (const auto& m : nodes.members())
    for (const auto& kind : edge_rows())
      for (const auto* e : plan.edges_from(m.id, kind.what))
        if (started.contains(e->from) || started.contains(e->to))
          connect(*e);
}

void neighbourhood::leave(const std::map<group_id, int64_t>& leaving, const std::set<group_id>& gone,
                          int32_t attempt) const {
  const auto group_of = [&](node_id id) {
    return plan.at(id).what == role::replica ? std::optional{plan.at(id).group} : std::nullopt;
  };
  const auto is_gone = [&](const std::optional<group_id>& group, group_id one) {
    return group && (planted(planted_fault::zeros_after_fall) ? *group == one : gone.contains(*group));
  };
  for (const auto& m : nodes.members())
    for (const auto* e : plan.edges_from(m.id)) {
      const auto from = group_of(e->from), to = group_of(e->to);
      for (const auto& [one, end, other] : {std::tuple{from, to, e->to}, std::tuple{to, from, e->from}})
        if (const auto left = one ? leaving.find(*one) : leaving.end(); left != leaving.end() && !is_gone(end, *one))
          if (const auto* node = nodes.find(other); node && node->handle)
            tell(node->handle, troupe::leave{attempt, e->id, left->second});
    }
}

}  // namespace troupe
