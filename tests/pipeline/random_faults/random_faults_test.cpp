// Random faults in simulation: each seed draws a job and its troubles. checks.hpp lists the rules that must hold.
//
// For each family of jobs, one variable plays a single seed and prints its story at length, and one sets the number of
// seeds:
//
//   TROUPE_FAULT_SEED=123 ./dev test 'random faults'      in a world where nothing takes time
//   TROUPE_FAULT_SEEDS=20000 ./dev test 'random faults'   in place of 500
//   TROUPE_TIMED_SEED=123 ./dev test 'timed faults'       in a world where turns and messages take time
//   TROUPE_TIMED_SEEDS=20000 ./dev test 'timed faults'    in place of 300
//   TROUPE_GROUP_SEED=123 ./dev test 'group faults'       in a job of several groups
//   TROUPE_GROUP_SEEDS=20000 ./dev test 'group faults'    in place of 300
//   TROUPE_GROWTH_SEED=123 ./dev test 'growth faults'     in a job that grows from one plan to the next
//   TROUPE_GROWTH_SEEDS=20000 ./dev test 'growth faults'  in place of 300
//   TROUPE_SEARCH_SEED=123 ./dev test 'search faults'     in a search
//   TROUPE_SEARCH_SEEDS=20000 ./dev test 'search faults'  in place of 300
//   TROUPE_SESSION_SEED=123 ./dev test 'session faults'     in a session that is opened again and again
//   TROUPE_SESSION_SEEDS=20000 ./dev test 'session faults'  in place of 300
//   TROUPE_PROCESS_SEED=123 ./dev test 'process faults'     of a chief and an evaluator in two processes
//   TROUPE_PROCESS_SEEDS=5000 ./dev test 'process faults'   in place of 150
//
// With a single seed, TROUPE_MESSAGES_TO=FILE writes every message to a file.
#include "pipeline/random_faults/checks.hpp"
#include "pipeline/random_faults/growth_faults.hpp"
#include "pipeline/random_faults/process_faults.hpp"
#include "pipeline/random_faults/session_faults.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace troupe::test::random_faults {

namespace {

std::optional<uint64_t> from_environment(const std::string& name) {
  const char* text = std::getenv(name.c_str());
  return text ? std::optional<uint64_t>{std::strtoull(text, nullptr, 10)} : std::nullopt;
}

/// The most messages that waited for an actor of each role in all stories, to compare with the bounds.
class gauges {
 public:
  void add(const observation& o) {
    for (const auto& [name, fullest] : o.gauge.fullest_mailboxes) {
      const auto role = name.substr(0, name.find_last_not_of("/0123456789") + 1);
      auto& most = fullest_[role];
      most = std::max(most, fullest);
    }
    turns_ = std::max(turns_, o.turns);
  }
  std::string text() const {
    std::string all = "at most " + std::to_string(turns_) + " turns; fullest mailboxes:";
    for (const auto& [role, fullest] : fullest_)
      all += " " + role + " " + std::to_string(fullest);
    return all;
  }

 private:
  std::map<std::string, size_t> fullest_;
  int64_t turns_ = 0;
};

/// A family of recipes, and the environment variables that select its seeds.
struct family {
  std::string name;
  recipe (*draw)(uint64_t seed);
  std::string one, first, count;
  uint64_t seeds;
};

/// Plays and checks the story of a seed. Prints the broken rules and how to repeat the story; true if none is broken.
bool passes(const family& of, uint64_t seed, bool at_length, gauges& all) {
  std::string messages;
  const char* to = std::getenv("TROUPE_MESSAGES_TO");
  const auto s = play(of.draw(seed), at_length && to ? &messages : nullptr);
  if (to)
    std::ofstream{to} << messages;
  for (const auto& o : s.disturbed)
    all.add(o);
  const auto findings = judge(s);
  std::string text;
  for (const auto& f : findings)
    text += "  " + f.rule + ": " + f.text + "\n";
  if (at_length)
    std::printf("%s", to_text(s).c_str());
  if (!findings.empty())
    MESSAGE(of.name << " do not hold up\n"
                    << text << to_text(s.of) << "\nagain: " << of.one << "=" << seed << " ./dev test '" << of.name
                    << "'");
  return findings.empty();
}

void run(const family& of) {
  gauges all;
  if (const auto one = from_environment(of.one)) {
    CHECK(passes(of, *one, true, all));
    return;
  }
  const uint64_t first = from_environment(of.first).value_or(1);
  const uint64_t seeds = from_environment(of.count).value_or(of.seeds);
  std::vector<uint64_t> failed;
  for (uint64_t seed = first; seed < first + seeds; ++seed)
    if (!passes(of, seed, false, all))
      failed.push_back(seed);
  if (seeds > of.seeds)
    MESSAGE(all.text());
  CHECK_MESSAGE(failed.empty(), failed.size() << " of " << seeds << " seeds fail");
}

/// `variables`: the beginning of their names.
template <class Recipe>
void run_drawn(const std::string& variables, const std::string& title, Recipe (*draw)(uint64_t), uint64_t usual = 300) {
  const auto one = from_environment(variables + "SEED");
  const uint64_t first = one.value_or(from_environment(variables + "FIRST").value_or(1));
  const uint64_t seeds = one ? 1 : from_environment(variables + "SEEDS").value_or(usual);
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    const auto recipe = draw(seed);
    const auto wrong = findings_of(recipe);
    CHECK_MESSAGE(wrong.empty(), to_text(recipe) << ": " << (wrong.empty() ? "" : wrong.front()) << "\nagain: "
                                                 << variables << "SEED=" << seed << " ./dev test '" << title << "'");
  }
}

}  // namespace

TEST_CASE(
    "random faults leave no wrong state, no one behind, no fact out of order, no other cause and no end that is late"
    * doctest::test_suite("random faults")) {
  run({"random faults", draw_recipe, "TROUPE_FAULT_SEED", "TROUPE_FAULT_FIRST", "TROUPE_FAULT_SEEDS", 500});
}

TEST_CASE("timed faults do no more where turns and messages take time, links are cut and hosts die"
          * doctest::test_suite("timed faults")) {
  run({"timed faults", draw_timed_recipe, "TROUPE_TIMED_SEED", "TROUPE_TIMED_FIRST", "TROUPE_TIMED_SEEDS", 300});
}

TEST_CASE("group faults do no more in a job of several groups, of which some leave and some fall with them"
          * doctest::test_suite("group faults")) {
  run({"group faults", draw_group_recipe, "TROUPE_GROUP_SEED", "TROUPE_GROUP_FIRST", "TROUPE_GROUP_SEEDS", 300});
}

TEST_CASE(
    "growth faults: whatever happens while a job grows, it ends in the bits of an undisturbed one, or another process "
    "does"
    * doctest::test_suite("growth faults")) {
  run_drawn("TROUPE_GROWTH_", "growth faults", draw_growth);
}

TEST_CASE(
    "search faults: whatever happens in a search, it ends in the bits and architecture of an undisturbed one, or "
    "another process does"
    * doctest::test_suite("search faults")) {
  run_drawn("TROUPE_SEARCH_", "search faults", draw_search);
}

TEST_CASE(
    "session faults: whatever happens in a session, its runs are counted, its hooks called in turns, and another "
    "process ends in the bits of an undisturbed job"
    * doctest::test_suite("session faults")) {
  run_drawn("TROUPE_SESSION_", "session faults", draw_session);
  const auto& seen = sessions_seen();
  MESSAGE(seen.processes << " processes: " << seen.runs << " runs, " << seen.saves << " saves, " << seen.recoveries
                         << " recoveries, " << seen.steps_taken_back << " steps taken back, " << seen.failures
                         << " failures, " << seen.readings << " readings");
}

TEST_CASE("a run that is stopped where the job has just recovered does not show hooks that state again"
          * doctest::test_suite("session faults")) {
  for (const uint64_t seed : {10732, 17320}) {
    CAPTURE(seed);
    const auto wrong = findings_of(draw_session(seed));
    CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : wrong.front()));
  }
}

TEST_CASE(
    "process faults: a chief and an evaluator that are started again end together, and each checkpoint is evaluated "
    "and exported at most once"
    * doctest::test_suite("process faults")) {
  run_drawn("TROUPE_PROCESS_", "process faults", draw_processes, 150);
  const auto& seen = processes_seen();
  MESSAGE(seen.happened << " troubles: " << seen.chiefs << " chiefs and " << seen.evaluators << " evaluators, "
                        << seen.evaluations << " evaluations, " << seen.exports << " exports, " << seen.ended_by_rule
                        << " ended by a rule");
}

TEST_CASE("random faults of one seed take the same turns twice") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto first = play(draw_recipe(seed)), again = play(draw_recipe(seed));
    REQUIRE(first.disturbed.size() == again.disturbed.size());
    for (size_t i = 0; i < first.disturbed.size(); ++i)
      CHECK(first.disturbed[i].trace_hash == again.disturbed[i].trace_hash);
  }
}

}  // namespace troupe::test::random_faults
