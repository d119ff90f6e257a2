// Checks the bounds of mailboxes, which follow from the credit in the plan, and the state inside of actors.
#include "actors/chief/fact_window.hpp"
#include "actors/chief/horizon.hpp"
#include "actors/chief/loops.hpp"
#include "pipeline/random_faults/checks.hpp"

namespace troupe::test::random_faults {

namespace {

/// The bound on the messages that wait for the node `name`: those that its neighbours may send before they have to wait
/// for it, and `control` for messages that are sent once or rarely (begin, connect, a request, a death).
size_t mailbox_max(const recipe& r, const std::string& name) {
  constexpr size_t control = 16;
  constexpr size_t blocks = 3;   // Credit of an edge (`plan_edge::credit_blocks`).
  constexpr size_t smaller = 8;  // Wishes for blocks of half the size and less, which need no new credit.
  constexpr size_t reports = 4;  // One for each block that a replica holds, and one at its current state.
  constexpr size_t saves = horizon::saves_max + 1;  // Saves in progress at a time, and the last save.
  // Other marks within the horizon. A replica reports at each of them, and each report may lead to a grant.
  const size_t marks = 8 + (r.keeps && r.summary_steps > 0 ? static_cast<size_t>(horizon::records_max) : 0);
  constexpr size_t records = 10;  // Credit for records (`summary_writer_options::window`).
  constexpr size_t arenas = 2;    // The most states that a replica lends.
  // Each watch leads to a report of every replica and to a grant. The window of facts bounds the watches that are not
  // answered.
  const size_t watches = r.hooks && r.watch_every > 0 ? fact_window::facts_max : 0;
  // Every fact is answered, also one of an event, which no watch asked for.
  const size_t answers = r.hooks ? fact_window::facts_max : 0;
  // Loops of a second are told one by one, as far as they are fixed ahead. Two grants may be on their way: the second
  // follows a report that was sent before the first one came.
  const size_t loops_told = r.loop == 0 ? 2 * static_cast<size_t>(loops::fixed_ahead_max) : 0;
  const auto replicas = static_cast<size_t>(r.replicas), hosts = static_cast<size_t>(r.hosts);
  // A group of several replicas sends its outputs in blocks of one step, and one report follows each block; with host
  // calls steps are reported, and room is given, one by one: only the horizon bounds them.
  const size_t ahead = (r.groups && r.groups->replicas > 1) || r.calls_every > 0 ? static_cast<size_t>(r.max_steps) : 0;
  // In a job of groups each step of the slowest may lead to a grant, and grants go to all: only the horizon bounds
  // them. With summaries it ends before the outfeed would have to keep too many records.
  const auto steps_ahead = r.summary_steps > 0 ? (horizon::records_max + 1) * r.summary_steps : r.max_steps;
  const auto grants = r.groups ? static_cast<size_t>(std::min<int64_t>(r.max_steps, steps_ahead)) : blocks;
  if (name.starts_with("evaluator"))  // No marks: blocks, the reports of each replica, then progress.
    return blocks + static_cast<size_t>(r.eval_replicas) * reports + control;
  // Groups are at different steps, and the horizon of the slowest makes blocks of one step.
  if (name.starts_with("infeed/") && r.groups)
    return (3 * (blocks + 1 + smaller) + ahead) * replicas + blocks + marks + watches + control;
  if (name.starts_with("infeed/"))  // Pulls, and the grants that the blocks in flight, or their steps, allow.
    return (blocks + 1 + smaller) * (replicas / hosts) + blocks + ahead + marks + watches + control;
  if (name.starts_with("replica/") && r.groups)  // Blocks of three in-ports, and pulls of the readers of two outputs.
    return 3 * (blocks + 1 + ahead) + 2 * (blocks + ahead) + grants + marks + watches + arenas + loops_told + control;
  if (name.starts_with("replica/"))  // Blocks, an end, grants, room for entries, and answers of reducer and writer.
    return blocks + 1 + blocks + marks + watches + arenas + ahead + loops_told + control;
  if (name.starts_with("reducer"))  // Each replica waits for the answer to its gradient or its `applied`.
    return replicas + control;
  if (name == "outfeed")
    return replicas * (reports + saves + marks + watches + 2 * ahead) + records + loops_told + control;
  if (name == "checkpoint_writer")  // Lent arenas; of each save in progress infeeds' parts, books and releases.
    return replicas * arenas + (hosts + 2) * saves + control;
  if (name == "summary_writer")  // Records within their credit, notes and the chief's books.
    return records + 2 * saves + control;
  if (name == "summary_writer/eval")
    return records + control;
  if (name == "callbacks")  // The window of facts (`fact_window::facts_max`), and progress.
    return fact_window::facts_max + control;
  // The chief: reports (of the replicas themselves if the outfeed has ended) and commits.
  return replicas * (reports + marks + watches + ahead) + answers + hosts + 2 * saves + control;
}

}  // namespace

void check_bounds(const recipe& r, const observation& o, std::vector<finding>& to) {
  for (const auto& [name, fullest] : o.gauge.fullest_mailboxes)
    if (const auto most = mailbox_max(r, name); fullest > most)
      to.push_back({"mailboxes are bounded", std::to_string(fullest) + " messages waited for " + name + ", at most "
                                                 + std::to_string(most) + " may"});
  for (const auto& breach : o.breaches)
    to.push_back({"nobody goes past what was granted", breach});
  if (o.gauge.timers_beyond_actors > 0)
    to.push_back({"a timer for each actor", std::to_string(o.gauge.timers) + " timers, "
                                                + std::to_string(o.gauge.timers_beyond_actors) + " more than actors"});
}

void check_inside(const recipe& r, const observation& o, std::vector<finding>& to) {
  if (!o.inside.over_credit.empty())
    to.push_back({"credit is kept", o.inside.over_credit});
  if (!o.inside.early_step.empty())
    to.push_back({"no step is told of before it is applied", o.inside.early_step});
  if (!o.inside.stop_unheard.empty())
    to.push_back({"a stop is heard", o.inside.stop_unheard});
  if (!o.inside.engine_twice.empty())
    to.push_back({"no engine is handed on", o.inside.engine_twice});
  for (const auto& e : o.events)
    if (const auto known = o.inside.known_failures.find(e.attempt);
        e.what == job_event::kind::recovering && known != o.inside.known_failures.end()
        && !(r.groups && known->second.starts_with(to_string(errc::nan_loss))))  // Then only that group leaves.
      to.push_back({"no failure is swallowed", "attempt " + std::to_string(e.attempt)
                                                   + " was followed by another one, and the outfeed knew of "
                                                   + known->second});
}

}  // namespace troupe::test::random_faults
