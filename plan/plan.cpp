#include "plan/plan.hpp"

#include "words/text.hpp"

#include <algorithm>
#include <map>

namespace troupe {

std::string_view to_string(divide d) noexcept {
  switch (d) {
    case divide::split: return "split";
    case divide::each: return "each";
    case divide::broadcast: return "broadcast";
  }
  return "unknown";
}

void add_service_edges(job_plan& p, bool saves) {
  std::map<std::pair<role, node_id>, std::vector<const plan_node*>> by_role;
  for (const auto& n : p.nodes)
    by_role[{n.what, n.driver}].push_back(&n);
  const auto add = [&p](edge_kind what, const plan_node& from, const plan_node& to) {
    p.edges.push_back({.id = edge_id{static_cast<int32_t>(p.edges.size())},
                       .from = from.id,
                       .out = {},
                       .to = to.id,
                       .in = {},
                       .kind = what,
                       .credit = row_of(what).credit});
  };
  for (const auto& row : edge_rows()) {
    if (row.what == edge_kind::data || (row.what == edge_kind::part && !saves))
      continue;
    for (const auto& from : p.nodes) {
      if (!contains(row.from, from.what)
          || (row.what == edge_kind::call && !(from.program && p.programs[*from.program].host_calls)))
        continue;
      const auto driver = from.what == role::chief ? from.id : from.driver;
      const bool by_way = row.what == edge_kind::part && from.what == role::chief
                          && by_role.contains({role::summary_writer, driver});
      for (const auto to : starting_order()) {
        // The summary writer takes only the chief's part.
        const bool relays = row.what == edge_kind::part && to == role::summary_writer;
        if (!contains(row.to, to) || (relays && !by_way) || (by_way && !relays))
          continue;
        for (const auto* n : by_role[{to, driver}])
          if (!row.within_group || (n->group == from.group))
            add(row.what, from, *n);
      }
    }
  }
}

std::string work_of(const job_plan& p, const plan_node& n) {
  if (n.dataset)
    return p.datasets[*n.dataset].text;
  if (!n.program)
    return "";
  const auto& program = p.programs[*n.program];
  std::string text = program.model;
  if (program.mode != mode::train)
    text.append(" (").append(to_string(program.mode)).append(")");
  return text;
}

namespace {

std::string text_of(const edge_credit& c, const plan_edge& e) {
  const bool of_blocks = e.kind == edge_kind::data || e.kind == edge_kind::call;
  const std::string unit = of_blocks ? " blocks" : " messages";
  return c.messages ? ", " + std::to_string(*c.messages) + unit : "";
}

}  // namespace

std::string to_text(const job_plan& p) {
  std::map<node_id, const plan_node*> nodes;
  for (const auto& n : p.nodes)
    nodes.emplace(n.id, &n);
  const auto end_of = [&nodes](node_id id, const std::string& port) {
    const auto n = nodes.find(id);
    std::string text = n == nodes.end() ? "nobody" : n->second->name;
    return port.empty() || port == data_port ? text : text.append(".").append(port);
  };
  std::string text;
  for (const auto& n : p.nodes) {
    const auto work = work_of(p, n);
    text.append("node ")
        .append(n.name)
        .append(": ")
        .append(to_string(n.what))
        .append(work.empty() ? "" : " of ")
        .append(work);
    text.append(n.stops_at_infeeds ? ", stops at infeeds" : "")
        .append(n.own ? ", for " + n.own->who + " alone" : "")
        .append(n.place != 0 ? ", place " + std::to_string(n.place) : "")
        .append("\n");
  }
  for (const auto& e : p.edges) {
    text.append("edge ")
        .append(std::to_string(index_of(e.id)))
        .append(": ")
        .append(end_of(e.from, e.out))
        .append(" => ")
        .append(end_of(e.to, e.in));
    text.append(", ")
        .append(e.kind == edge_kind::data ? to_string(e.how) : to_string(e.kind))
        .append(text_of(e.credit, e))
        .append("\n");
  }
  const auto name_of = [&p](group_id id) {
    const auto g = std::find_if(p.groups.begin(), p.groups.end(), [id](const plan_group& x) { return x.id == id; });
    return g == p.groups.end() ? "nobody" : g->name;
  };
  if (p.shown.size() > 1)
    text.append("shown: ").append(joined(p.shown, ", ", name_of)).append("\n");
  for (const auto& g : p.groups) {
    if (!g.falls_with.empty())
      text.append("group ")
          .append(g.name)
          .append(": falls with ")
          .append(joined(g.falls_with, ", ", name_of))
          .append("\n");
    if (g.leaves != leaves_on::never)
      text.append("group ").append(g.name).append(
          g.leaves == leaves_on::numbers ? ": leaves if its numbers are not finite\n" : ": leaves if it fails\n");
    if (g.on_not_finite == not_finite::stop)
      text.append("group")
          .append(g.name.empty() ? "" : " ")
          .append(g.name)
          .append(": ends before a step that is not finite\n");
    if (g.begins_at != 0)
      text.append("group")
          .append(g.name.empty() ? "" : " ")
          .append(g.name)
          .append(": begins at step ")
          .append(std::to_string(g.begins_at))
          .append("\n");
    if (g.retires_at)
      text.append("group ")
          .append(g.name)
          .append(": retires at step ")
          .append(std::to_string(*g.retires_at))
          .append("\n");
    if (g.input_ends_at)
      text.append("group ")
          .append(g.name)
          .append(": its own data end at step ")
          .append(std::to_string(*g.input_ends_at))
          .append("\n");
    if (!g.told_at_saves.empty())
      text.append("group ")
          .append(g.name)
          .append(": tells ")
          .append(std::to_string(g.told_at_saves.size()))
          .append(" values at saves\n");
    if (!g.summaries.directory.empty())
      text.append("group ")
          .append(g.name)
          .append(g.summaries.written ? ": summaries in " : ": no summaries in ")
          .append(g.summaries.directory)
          .append("\n");
  }
  if (const auto& i = p.iteration; i != plan_iteration{})
    text.append("iteration ")
        .append(std::to_string(i.number))
        .append(i.begins_at ? ": from state " + std::to_string(*i.begins_at) : ":")
        .append(i.ends_at ? " to state " + std::to_string(*i.ends_at) : "")
        .append("\n");
  text += "snapshot:";
  for (const auto& n : p.nodes)
    if (row_of(n.what).makes_part && std::any_of(p.edges.begin(), p.edges.end(), [&n](const plan_edge& e) {
          return e.kind == edge_kind::part && e.from == n.id;
        }))
      text.append(" ").append(n.name);
  return text + "\n";
}

}  // namespace troupe
