// Bounds: how much may wait for whom, as the plan's credit has it.
#include "pipeline/random_faults/checks.hpp"

namespace troupe::test::random_faults {

namespace {

/// The most messages that may wait for a node of this name: what its neighbours may send before they wait for it, and
/// `control` for what comes once or rarely (begin, connect, a request, a death).
size_t mailbox_max(const recipe& r, const std::string& name) {
  constexpr size_t control = 16;
  constexpr size_t blocks = 3;         // Credit of an edge (plan_edge::credit_blocks).
  constexpr size_t reports = 4;        // Of a replica: one for each block that it holds, and one at the state where it stands.
  constexpr size_t marks = 8;          // Of one kind within the horizon: there a replica reports, and an infeed hands over its part.
  constexpr size_t records = 10;       // Credit of the outfeed (outfeed_options::records_ahead).
  constexpr size_t arenas = 2;         // A replica lends no more states than that.
  const auto replicas = static_cast<size_t>(r.replicas), hosts = static_cast<size_t>(r.hosts);
  if (name.starts_with("evaluator"))   // One replica, no marks: blocks, their reports, the progress that follows.
    return blocks + reports + control;
  if (name.starts_with("infeed/"))     // Pulls, and grants of the horizon that the blocks on their way allow.
    return (blocks + 1) * (replicas / hosts) + blocks + marks + control;
  if (name.starts_with("replica/"))    // Blocks, an end, grants, and what the reducer and the writer answer.
    return blocks + 1 + blocks + marks + arenas + control;
  if (name == "reducer")               // Each replica waits for the answer to its part, or to its `applied`.
    return replicas + control;
  if (name == "outfeed")
    return replicas * (reports + marks) + records + control;
  if (name == "checkpoint_writer")     // Parts of all, ahead of each other by what is lent or read; what evaluations let go.
    return replicas * arenas + hosts * marks + 2 * marks + control;
  if (name == "summary_writer")        // Records on credit, notes and the chief's books.
    return records + 2 * marks + control;
  if (name == "summary_writer/eval")   // Two records an evaluation; as many evaluations as a writer can be behind.
    return 2 * marks + control;
  if (name == "callbacks")             // The window of facts (fact_window::facts_max), and progress beside it.
    return 256 + control;
  return replicas * reports + hosts + 3 * marks + control;  // The chief.
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
