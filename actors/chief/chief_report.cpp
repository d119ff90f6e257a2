// The report of a job: every node is asked what it has done with its time, and the answers go to the board.
#include "actors/chief/chief_subjects.hpp"
#include "messages/counted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

constexpr std::chrono::milliseconds answers_max{1'000};

actor_report report_of(const std::string& name, role what, const activity_counts& spent) {
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  actor_report r{.name = name, .role = std::string{to_string(what)}};
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
  return r;
}

}  // namespace

void ask_for_report(chief_state& c) {
  if (c.waiting.armed(chief_wait::report))
    return;
  std::vector<std::string> asked;
  for (const auto& who : c.nodes.members())
    if (who.handle)
      asked.push_back(who.name);
  if (asked.empty()) {
    c.reporting.begin({});
    return show_report(c);
  }
  const probe what{c.reporting.begin(std::move(asked))};
  for (const auto& who : c.nodes.members())
    if (who.handle && !c.reporting.owes(who.name)) {
      c.reporting.sent_to(who.name);
      c.self->send(caf::actor_cast<probed_actor>(who.handle), what);
    }
  c.waiting.arm(chief_wait::report, answers_max, true);
}

void show_report(chief_state& c) {
  c.disarm(chief_wait::report);
  job_report all{.seconds = c.seconds(), .step = c.horizon.reached()};
  for (const auto& who : c.reporting.asked()) {
    const auto& members = c.nodes.members();
    const auto m = std::find_if(members.begin(), members.end(), [&who](const member& x) { return x.name == who; });
    if (m == members.end())
      continue;  // It ended meanwhile, with its iteration.
    const auto answer = c.reporting.answers().find(who);
    const bool answered = answer != c.reporting.answers().end();
    all.actors.push_back(report_of(who, m->what, answered ? answer->second.spent : activity_counts{}));
    all.actors.back().answered = answered;
  }
  all.actors.push_back(report_of(c.options.name, role::chief, c.spent.counts(now_ns_of(c))));
  c.reporting.withdraw();
  c.options.board->report(all);
}

}  // namespace troupe
