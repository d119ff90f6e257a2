// The report of a job: every node is asked what it has done with its time, and the answers go to the board.
#include "actors/chief/chief_subjects.hpp"
#include "actors/node_reports.hpp"
#include "messages/counted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

void ask_for_report(chief_state& c) {
  if (c.waiting.armed(chief_wait::report))
    return;
  if (!ask_for_reports(*c.self, c.nodes, c.reporting))
    return show_report(c);
  c.waiting.arm(chief_wait::report, report_answers_max, true);
}

void show_report(chief_state& c) {
  c.disarm(chief_wait::report);
  job_report all{
      .seconds = c.seconds(), .step = c.horizon.reached(), .actors = reports_of(c.plan(), c.options.id, c.reporting)};
  all.actors.push_back(report_of(c.options.name, to_string(role::chief), c.spent.counts(now_ns_of(c))));
  c.options.board->report(all);
}

}  // namespace troupe
