#include "plan/checked_plan.hpp"

#include "words/expect.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The value of `key`, or an empty value.
template <class Map>
const typename Map::mapped_type& value_of(const Map& in, const typename Map::key_type& key) {
  static const typename Map::mapped_type none;
  const auto found = in.find(key);
  return found == in.end() ? none : found->second;
}

}  // namespace

/// Requires unique numbers, and edges whose nodes exist.
void checked_plan::index() {
  replicas_.resize(plan_.programs.size());
  for (const auto& n : plan_.nodes) {
    by_id_.emplace(n.id, &n);
    by_role_[{n.what, n.driver}].push_back(&n);
    if (n.program && *n.program < replicas_.size())
      replicas_[*n.program].push_back(&n);
  }
  for (auto& of_program : replicas_)
    std::stable_sort(of_program.begin(), of_program.end(),
                     [](const plan_node* a, const plan_node* b) { return a->index < b->index; });
  for (const auto& e : plan_.edges) {
    from_[{e.from, e.kind}].push_back(&e);
    to_[{e.to, e.kind}].push_back(&e);
  }
  for (const auto& n : plan_.nodes)
    if (row_of(n.what).makes_part && !edges_from(n.id, edge_kind::part).empty())
      parts_.push_back(&n);
}

const plan_node* checked_plan::find(node_id id) const {
  const auto n = by_id_.find(id);
  return n == by_id_.end() ? nullptr : n->second;
}

const plan_node* checked_plan::find(role what, node_id driver) const {
  const auto& found = all(what, driver);
  return found.empty() ? nullptr : found.front();
}

const plan_node& checked_plan::at(node_id id) const {
  if (const auto* n = find(id))
    return *n;
  throw broken_invariant{"the plan has no node " + std::to_string(static_cast<int32_t>(id))};
}

const plan_group& checked_plan::group(group_id id) const {
  const auto g = std::find_if(plan_.groups.begin(), plan_.groups.end(),
                              [id](const plan_group& x) { return x.id == id; });
  if (g == plan_.groups.end())
    throw broken_invariant{"the plan has no group " + std::to_string(static_cast<int32_t>(id))};
  return *g;
}

const checked_plan::nodes& checked_plan::all(role what, node_id driver) const {
  return value_of(by_role_, {what, driver});
}
const checked_plan::edges& checked_plan::edges_from(node_id id, edge_kind what) const {
  return value_of(from_, {id, what});
}
const checked_plan::edges& checked_plan::edges_to(node_id id, edge_kind what) const {
  return value_of(to_, {id, what});
}

std::vector<size_t> checked_plan::reported_by(node_id driver) const {
  std::vector<size_t> programs;
  for (const auto* r : all(role::replica, driver))
    if (std::find(programs.begin(), programs.end(), *r->program) == programs.end())
      programs.push_back(*r->program);
  const auto place = [this](size_t program) {
    return std::find(plan_.shown.begin(), plan_.shown.end(), plan_.programs[program].group) - plan_.shown.begin();
  };
  std::stable_sort(programs.begin(), programs.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
  return programs;
}

const checked_plan::nodes& checked_plan::replicas_of(size_t program) const {
  static const nodes none;
  return program < replicas_.size() ? replicas_[program] : none;
}

bool has_host_calls(const checked_plan& p, node_id driver) {
  const auto& replicas = p.all(role::replica, driver);
  return std::any_of(replicas.begin(), replicas.end(),
                     [&p](const plan_node* r) { return p->programs[*r->program].host_calls; });
}

}  // namespace troupe
