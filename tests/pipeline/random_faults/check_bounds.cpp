// Bounds of mailboxes, as they follow from the plan's credit, and what was seen inside of actors.
#include "actors/chief/fact_window.hpp"
#include "actors/chief/horizon.hpp"
#include "pipeline/random_faults/checks.hpp"

namespace troupe::test::random_faults {

namespace {

/// The bound on messages that wait for a node of this name: those that its neighbours may send before they wait for it,
/// and `control` for messages that come once or rarely (begin, connect, a request, a death).
size_t mailbox_max(const recipe& r, const std::string& name) {
  constexpr size_t control = 16;
  constexpr size_t blocks = 3;         // Credit of an edge (plan_edge::credit_blocks).
  constexpr size_t reports = 4;        // Of a replica: one for each block that it holds, and one at its current state.
  constexpr size_t saves = horizon::saves_max + 1;  // In progress at a time, and the last.
  // Other marks within the horizon. A replica reports at each of them, and each report may lead to a grant.
  const size_t marks = 8 + (r.keeps && r.summary_steps > 0 ? static_cast<size_t>(horizon::records_max) : 0);
  constexpr size_t records = 10;       // Credit for records (summary_writer_options::window).
  constexpr size_t arenas = 2;         // A replica lends no more states than that.
  // Each watch is a report of every replica, and a grant at its place; the window of facts bounds those that are not answered.
  const size_t watches = r.hooks && r.watch_every > 0 ? fact_window::facts_max : 0;
  const auto replicas = static_cast<size_t>(r.replicas), hosts = static_cast<size_t>(r.hosts);
  // What a group of several replicas shows others comes in blocks of one step, and one report follows each: the horizon alone bounds them.
  const size_t ahead = r.groups && r.groups->replicas > 1 ? static_cast<size_t>(r.max_steps) : 0;
  if (name.starts_with("evaluator"))   // One replica, no marks: blocks, their reports, the progress that follows.
    return blocks + reports + control;
  if (name.starts_with("infeed/") && r.groups)  // Groups are at different steps: the horizon of the slowest makes blocks of one step.
    return (3 * (blocks + 1) + ahead) * replicas + blocks + marks + watches + control;
  if (name.starts_with("infeed/"))     // Pulls, and grants of the horizon that the blocks on their way allow.
    return (blocks + 1) * (replicas / hosts) + blocks + marks + watches + control;
  if (name.starts_with("replica/") && r.groups)  // Those of three in-ports, and what the readers of two outputs pull.
    return 3 * (blocks + 1 + ahead) + 2 * (blocks + ahead) + blocks + marks + watches + arenas + control;
  if (name.starts_with("replica/"))    // Blocks, an end, grants, and what the reducer and the writer answer.
    return blocks + 1 + blocks + marks + watches + arenas + control;
  if (name.starts_with("reducer"))               // Each replica waits for the answer to its part, or to its `applied`.
    return replicas + control;
  if (name == "outfeed")
    return replicas * (reports + saves + marks + watches + ahead) + records + control;
  if (name == "checkpoint_writer")     // Lent arenas; the parts of infeeds, books and releases of each save in progress.
    return replicas * arenas + (hosts + 2) * saves + control;
  if (name == "summary_writer")        // Records on credit, notes and the chief's books.
    return records + 2 * saves + control;
  if (name == "summary_writer/eval")
    return records + control;
  if (name == "callbacks")             // The window of facts (fact_window::facts_max), and progress beside it.
    return fact_window::facts_max + control;
  // The chief: reports, those of the replicas where the outfeed is gone, and commits.
  return replicas * (reports + marks + watches + ahead) + hosts + 2 * saves + control;
}

}  // namespace

void check_bounds(const recipe& r, const observation& o, std::vector<finding>& to) {
  for (const auto& [name, fullest] : o.gauge.fullest_mailboxes)
    if (const auto most = mailbox_max(r, name); fullest > most)
      to.push_back({"mailboxes are bounded", std::to_string(fullest) + " messages waited for " + name + ", at most " + std::to_string(most) + " may"});
  for (const auto& breach : o.breaches)
    to.push_back({"nobody goes past what was granted", breach});
  if (o.gauge.timers_beyond_actors > 0)
    to.push_back({"a timer for each actor", std::to_string(o.gauge.timers) + " timers, " + std::to_string(o.gauge.timers_beyond_actors)
                                              + " more than actors"});
}

void check_inside(const recipe& r, const observation& o, std::vector<finding>& to) {
  if (!o.inside.over_credit.empty())
    to.push_back({"credit is kept", o.inside.over_credit});
  if (!o.inside.engine_twice.empty())
    to.push_back({"no engine is handed on", o.inside.engine_twice});
  for (const auto& e : o.events)
    if (const auto known = o.inside.known_failures.find(e.attempt); e.what == job_event::kind::recovering && known != o.inside.known_failures.end()
        && !(r.groups && known->second.starts_with(to_string(errc::nan_loss))))  // For which only that group leaves.
      to.push_back({"no failure is swallowed", "attempt " + std::to_string(e.attempt) + " was followed by another one, and the outfeed knew of "
                                                 + known->second});
}

}  // namespace troupe::test::random_faults
