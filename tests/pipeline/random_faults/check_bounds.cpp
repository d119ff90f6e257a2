// Bounds: how much may wait for whom, as the plan's credit has it.
#include "pipeline/random_faults/checks.hpp"

namespace troupe::test::random_faults {

namespace {

/// The most messages that may wait for a node of this name.
size_t mailbox_max(const recipe&, const std::string&) {
  return 1000;
}

}  // namespace

void check_bounds(const recipe& r, const observation& o, std::vector<finding>& to) {
  for (const auto& [name, fullest] : o.gauge.fullest_mailboxes)
    if (const auto most = mailbox_max(r, name); fullest > most)
      to.push_back({"mailboxes are bounded", std::to_string(fullest) + " messages waited for " + name + ", at most " + std::to_string(most) + " may"});
  if (o.gauge.timers_beyond_actors > 0)
    to.push_back({"a timer for each actor", std::to_string(o.gauge.timers) + " timers, " + std::to_string(o.gauge.timers_beyond_actors)
                                              + " more than actors"});
}

}  // namespace troupe::test::random_faults
