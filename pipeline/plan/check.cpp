// Checks a plan before any actor starts.
#include "pipeline/plan/plan.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace troupe {

namespace {

tl::unexpected<error> refuse(std::string what) { return fail(errc::invalid_argument, "the plan cannot be: " + std::move(what)); }

std::string text_of(node_id id) { return "node " + std::to_string(static_cast<int32_t>(id)); }

std::string named(const plan_node& n) { return quoted(n.name); }

bool drives(role r) { return r == role::chief || r == role::evaluator || r == role::predictor; }

std::string text_of(const job_plan& p, const plan_edge& e) {
  const auto end = [&p](node_id id, const std::string& port) { return (p.find(id) ? p.at(id).name : text_of(id)) + "." + port; };
  return "edge " + std::to_string(static_cast<int32_t>(e.id)) + " (" + end(e.from, e.out) + " => " + end(e.to, e.in) + ")";
}

expected<void> check_nodes(const job_plan& p) {
  std::map<node_id, const plan_node*> known;
  std::set<std::string> names;
  for (const auto& n : p.nodes) {
    if (const auto [other, added] = known.emplace(n.id, &n); !added)
      return refuse(text_of(n.id) + " is both " + named(*other->second) + " and " + named(n));
    if (!names.insert(n.name).second)
      return refuse("two nodes have the name " + named(n));
  }
  for (const auto& n : p.nodes) {
    if (n.driver != no_node && (!known.contains(n.driver) || !drives(known[n.driver]->what)))
      return refuse(named(n) + " is driven by " + (known.contains(n.driver) ? named(*known[n.driver]) : text_of(n.driver))
                    + ", which is no chief, evaluator or predictor");
    if (n.what == role::replica && (!n.program || *n.program >= p.programs.size()))
      return refuse(named(n) + " has no program: a replica names one of the " + std::to_string(p.programs.size()) + " in the plan");
    if (n.what == role::replica && p.programs[*n.program].group != n.group)
      return refuse(named(n) + " is of another group than its program");
    if (n.what == role::replica && p.programs[*n.program].mode == mode::train && !p.find(n.group))
      return refuse(named(n) + " is of group " + std::to_string(static_cast<int32_t>(n.group)) + ", which the plan does not list");
    if (n.what == role::infeed && (!n.dataset || *n.dataset >= p.datasets.size()))
      return refuse(named(n) + " has no dataset: an infeed names one of the " + std::to_string(p.datasets.size()) + " in the plan");
  }
  return {};
}

/// Indices count from 0 without a repetition: a replica's index chooses its shards, an infeed's its share of the data.
expected<void> check_numbers(const std::vector<const plan_node*>& nodes) {
  std::vector<const plan_node*> taken(nodes.size());
  for (const auto* n : nodes) {
    if (n->index < 0 || static_cast<size_t>(n->index) >= nodes.size())
      return refuse(named(*n) + " has the index " + std::to_string(n->index) + " among " + std::to_string(nodes.size()) + ": they count from 0");
    if (const auto* other = std::exchange(taken[static_cast<size_t>(n->index)], n))
      return refuse(named(*other) + " and " + named(*n) + " both have the index " + std::to_string(n->index));
  }
  return {};
}

/// Every replica has an in-port, an outfeed and, if its group trains several replicas, a reducer.
expected<void> check_company(const job_plan& p, const plan_node& replica) {
  if (replica.in_ports.empty())
    return refuse(named(replica) + " has no in-port: it would never make a step");
  if (!p.find(role::outfeed, replica.driver))
    return refuse(named(replica) + " has no outfeed to report to");
  const bool trains = p.programs[*replica.program].mode == mode::train;
  const auto reducers = p.all(role::reducer, replica.driver);
  if (trains && p.replicas_of(*replica.program).size() > 1
      && std::none_of(reducers.begin(), reducers.end(), [&](const plan_node* r) { return r->group == replica.group; }))
    return refuse(named(replica) + " is one of several of its group, which has no reducer");
  return {};
}

/// All replicas of a program have the same ports. An infeed that sends each reader a separate batch does so for all of its
/// edges, with equally many readers in each group.
expected<void> check_divisions(const job_plan& p) {
  for (size_t program = 0; program < p.programs.size(); ++program) {
    const auto replicas = p.replicas_of(program);
    if (replicas.empty())
      return refuse("no replica runs program " + std::to_string(program) + " ('" + p.programs[program].model + "')");
    if (auto ok = check_numbers(replicas); !ok)
      return ok;
    for (const auto* r : replicas)
      if (auto ok = check_company(p, *r); !ok)
        return ok;
    for (const auto* r : replicas)
      if (r->in_ports != replicas.front()->in_ports || r->out_ports != replicas.front()->out_ports)
        return refuse(named(*r) + " has other ports than " + named(*replicas.front()) + ", which runs the same program");
  }
  for (size_t dataset = 0; dataset < p.datasets.size(); ++dataset) {
    std::vector<const plan_node*> infeeds;
    for (const auto& n : p.nodes)
      if (n.what == role::infeed && n.dataset == dataset)
        infeeds.push_back(&n);
    if (auto ok = check_numbers(infeeds); !ok)
      return ok;
  }
  for (const auto& n : p.nodes) {
    std::map<group_id, size_t> each;
    const auto edges = p.edges_from(n.id);
    for (const auto* e : edges)
      if (e->how == divide::each)
        ++each[p.at(e->to).group];
    for (const auto* e : edges)
      if (!each.empty() && (e->how != divide::each || each[p.at(e->to).group] != each.begin()->second))
        return refuse(text_of(p, *e) + ": " + named(n) + " gives each of " + std::to_string(each.begin()->second)
                      + " readers a batch of its own; all of its edges must be divided so, among as many in each group");
  }
  return {};
}

bool has_port(const std::vector<std::string>& ports, const std::string& port) { return std::find(ports.begin(), ports.end(), port) != ports.end(); }

expected<void> check_edges(const job_plan& p) {
  std::set<edge_id> known;
  std::set<std::pair<node_id, std::string>> filled, read;
  for (const auto& e : p.edges) {
    if (!known.insert(e.id).second)
      return refuse("there are two edges with the number " + std::to_string(static_cast<int32_t>(e.id)));
    const auto *from = p.find(e.from), *to = p.find(e.to);
    if (!from || !to)
      return refuse(text_of(p, e) + " is of a node that is not there");
    if (!has_port(from->out_ports, e.out))
      return refuse(text_of(p, e) + ": " + named(*from) + " has no out-port '" + e.out + "'");
    if (!has_port(to->in_ports, e.in))
      return refuse(text_of(p, e) + ": " + named(*to) + " has no in-port '" + e.in + "'");
    if (from->driver != to->driver)
      return refuse(text_of(p, e) + " joins nodes of two drivers");
    if (e.credit_blocks < 1 || e.credit_bytes < 1)
      return refuse(text_of(p, e) + " has a credit of " + std::to_string(e.credit_blocks) + " blocks of " + std::to_string(e.credit_bytes)
                    + " bytes: nothing could ever be sent; both must be at least 1");
    if (from->what == role::replica && e.how != divide::broadcast)
      return refuse(text_of(p, e) + " divides by " + std::string{to_string(e.how)} + ": what a replica computed goes whole to its reader (broadcast)");
    if (!filled.emplace(e.to, e.in).second)
      return refuse("in-port '" + e.in + "' of " + named(*to) + " is filled by two edges, the second of which is " + text_of(p, e));
    read.emplace(e.from, e.out);
  }
  for (const auto& n : p.nodes) {
    for (const auto& port : n.in_ports)
      if (!filled.contains({n.id, port}))
        return refuse("in-port '" + port + "' of " + named(n) + " has no edge that fills it");
    for (const auto& port : n.out_ports)
      if (!read.contains({n.id, port}))
        return refuse("out-port '" + port + "' of " + named(n) + " has no reader");
  }
  return {};
}

/// A step needs a batch on every in-port, so that no node of a cycle could make its first step.
expected<void> check_cycles(const job_plan& p) {
  std::map<node_id, size_t> waits_for;
  for (const auto& e : p.edges)
    ++waits_for[e.to];
  std::vector<node_id> ready;
  for (const auto& n : p.nodes)
    if (!waits_for.contains(n.id))
      ready.push_back(n.id);
  while (!ready.empty()) {
    const auto done = ready.back();
    ready.pop_back();
    for (const auto* e : p.edges_from(done))
      if (--waits_for[e->to] == 0) {
        waits_for.erase(e->to);
        ready.push_back(e->to);
      }
  }
  if (waits_for.empty())
    return {};
  const auto names = joined(waits_for, ", ", [&p](const auto& waiting) { return named(p.at(waiting.first)); });
  return refuse("there is a cycle: " + names + " wait for one another, and none could make its first step");
}

expected<void> check_parts(const job_plan& p) {
  std::set<node_id> known;
  for (const auto part : p.snapshot_parts) {
    const auto* n = p.find(part);
    if (!n)
      return refuse("a snapshot has a part of " + text_of(part) + ", which is not there");
    if (n->what != role::infeed && n->what != role::replica && n->what != role::chief)
      return refuse("a snapshot has a part of " + named(*n) + ", and a " + std::string{to_string(n->what)} + " makes none");
    if (!known.insert(part).second)
      return refuse("a snapshot has the part of " + named(*n) + " twice");
  }
  return {};
}

/// Other groups can be removed while the job goes on; the first one has its loss, and its values are the ones that hooks are shown.
expected<void> check_groups(const job_plan& p) {
  const auto first = std::find_if(p.programs.begin(), p.programs.end(), [](const plan_program& x) { return x.mode == mode::train; });
  for (const auto& g : p.groups) {
    if (g.on_failure == group_failure::leave && first != p.programs.end() && first->group == g.id)
      return refuse("group " + quoted(g.name) + " is to leave if it fails, and its loss is the job's: no job would be left");
    if (g.retires_at.value_or(0) < 0)
      return refuse("group " + quoted(g.name) + " retires at step " + std::to_string(*g.retires_at) + ": steps count from 0");
  }
  return {};
}

}  // namespace

expected<void> check(const job_plan& p) {
  for (const auto& part : {check_nodes, check_edges, check_divisions, check_cycles, check_parts, check_groups})
    if (auto ok = part(p); !ok)
      return ok;
  return {};
}

}  // namespace troupe
