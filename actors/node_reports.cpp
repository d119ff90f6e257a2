#include "actors/node_reports.hpp"

#include <caf/local_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace troupe {

bool ask_for_reports(caf::local_actor& driver, const roster& nodes, inquiry& reporting) {
  std::vector<std::string> asked;
  for (const auto& who : nodes.members())
    if (who.handle)
      asked.push_back(who.name);
  const bool any = !asked.empty();
  const probe what{reporting.begin(std::move(asked)), probe::asks_on};
  for (const auto& who : nodes.members())
    if (who.handle && !reporting.owes(who.name)) {
      reporting.sent_to(who.name);
      caf::send_as(caf::actor_cast<caf::actor>(&driver), caf::actor_cast<probed_actor>(who.handle), what);
    }
  return any;
}

actor_report report_of(const std::string& name, std::string_view role, const activity_counts& spent) {
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  actor_report r{.name = name, .role = std::string{role}};
  r.busy_seconds = seconds(spent.busy_ns);
  r.waiting_seconds = {.input = seconds(spent.waiting_for(wait_cause::input)),
                       .peers = seconds(spent.waiting_for(wait_cause::peers)),
                       .room = seconds(spent.waiting_for(wait_cause::room)),
                       .arena = seconds(spent.waiting_for(wait_cause::arena)),
                       .horizon = seconds(spent.waiting_for(wait_cause::horizon))};
  r.messages = spent.messages;
  r.bytes = spent.bytes;
  r.queued = spent.queued;
  r.queued_max = spent.queued_max;
  r.mailbox = spent.mailbox;
  r.mailbox_max = spent.mailbox_max;
  return r;
}

std::vector<actor_report> reports_of(const checked_plan& plan, node_id driver, inquiry& reporting) {
  std::vector<actor_report> all;
  for (const auto& who : reporting.asked()) {
    const auto& nodes = plan->nodes;
    const auto n = std::find_if(nodes.begin(), nodes.end(), [&who](const plan_node& x) { return x.name == who; });
    if (n == nodes.end())
      continue;  // It ended meanwhile, with its iteration.
    const auto answer = reporting.answers().find(who);
    const bool answered = answer != reporting.answers().end();
    all.push_back(report_of(who, to_string(n->what), answered ? answer->second.spent : activity_counts{}));
    all.back().answered = answered;
    if (n->driver != driver)
      all.back().driver = plan.at(n->driver).name;
  }
  reporting.withdraw();
  return all;
}

}  // namespace troupe
