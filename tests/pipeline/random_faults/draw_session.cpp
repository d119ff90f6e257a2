// How stories of sessions are drawn, and shown to people.
#include "pipeline/random_faults/session_faults.hpp"
#include "support/dice.hpp"

namespace troupe::test::random_faults {

namespace {

session_happening draw_trouble(const session_recipe& r, dice& d) {
  using enum session_trouble;
  session_happening t{d.of({kill, kill, kill, kill, kill, throws, hangs, disk_fault, disk_fault, disk_death, power_loss,
                            stop, preempted, preempted, broken, suspended}),
                      d.between(0, 60 * r.replicas + d.up_to(400)), ""};
  std::vector<std::string> nodes{"outfeed", "checkpoint_writer", "summary_writer", "callbacks", "chief"};
  for (int64_t i = 0; i < r.replicas; ++i)
    nodes.insert(nodes.end(), 4, "replica/" + std::to_string(i));
  for (int32_t i = 0; i < r.hosts; ++i)
    nodes.insert(nodes.end(), 4, "infeed/" + std::to_string(i));
  t.node = nodes[static_cast<size_t>(d.between(0, std::ssize(nodes) - 1))];
  if (t.what == hangs && t.node == "chief")
    t.node = "outfeed";  // No actor waits for the chief.
  return t;
}

}  // namespace

session_recipe draw_session(uint64_t seed) {
  dice d{seed};
  session_recipe r{.seed = seed};
  r.hosts = d.in_percent(20) ? 2 : 1;
  r.replicas = r.hosts * d.between(1, 2);
  r.max_steps = d.of<int64_t>({12, 30, 60});
  if (d.in_percent(10))
    r.save_steps.reset();
  else
    r.save_steps = d.of<int64_t>({1, 3, 5, 50});
  r.attempts = d.in_percent(10) ? 0 : d.between(1, 6);
  r.run_hooks = d.between(0, 2);
  r.watches = d.in_percent(30);
  for (auto processes = d.between(1, 3); processes > 0; --processes) {
    session_process p{.schedule = d.draw(), .caller = d.draw(), .closes = d.in_percent(80)};
    for (auto troubles = d.between(0, 5); troubles > 0; --troubles)
      p.troubles.push_back(draw_trouble(r, d));
    r.disturbed.push_back(std::move(p));
  }
  return r;
}

std::string to_text(const session_recipe& r) {
  static constexpr const char* names[] = {"kill",       "throws", "hangs",     "disk_fault", "disk_death",
                                          "power_loss", "stop",   "preempted", "broken",     "suspended"};
  std::string text = "seed " + std::to_string(r.seed) + ": " + std::to_string(r.hosts) + " hosts, "
                     + std::to_string(r.replicas) + " replicas, " + std::to_string(r.max_steps) + " steps, saves every "
                     + (r.save_steps ? std::to_string(*r.save_steps) : "none") + ", " + std::to_string(r.attempts)
                     + " attempts, " + std::to_string(r.run_hooks) + " run hooks" + (r.watches ? ", watches" : "");
  for (const auto& p : r.disturbed) {
    text += "\n  process" + std::string{p.closes ? ":" : ", not closed:"};
    for (const auto& t : p.troubles)
      text += " " + std::string{names[static_cast<size_t>(t.what)]} + " " + t.node + " after "
              + std::to_string(t.messages) + ";";
  }
  return text;
}

}  // namespace troupe::test::random_faults
