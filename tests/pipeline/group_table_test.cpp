// The table of groups in docs/failures.md: each cell must be the outcome of simulated jobs under several schedules.
#include "support/page_table.hpp"
#include "support/plans.hpp"
#include "support/wrapped_engine.hpp"

#include <doctest/doctest.h>

#include <set>

namespace troupe::test {

namespace {

constexpr int64_t last_step = 20, breaks_at = 12;
constexpr size_t program_b = 2;

struct trouble_of_group {
  const char* name;
  bool breaks = false;   ///< The group's numbers are not finite at step `breaks_at`.
  int64_t recovers = 0;  ///< `run_config::recovery_attempts_max`.
  void (*meet)(simulated_job& job) = {};
};

constexpr std::array troubles{
    trouble_of_group{"its numbers are not finite", true, 10},
    trouble_of_group{"a node dies, and may be started anew", false, 10,
                     [](simulated_job& job) { job.kill("b/replica/0"); }},
    trouble_of_group{"a node dies, and may not", false, 0, [](simulated_job& job) { job.kill("b/replica/0"); }},
    trouble_of_group{"a node throws, and may not be started anew", false, 0,
                     [](simulated_job& job) { job.throw_in("b/replica/0"); }},
    trouble_of_group{"a node hangs", false, 10, [](simulated_job& job) { job.hang("b/replica/0"); }},
};

std::shared_ptr<prepared_job> with_trouble(const small_job_options& o, const trouble_of_group& t, leaves_on leaves,
                                           bool falls) {
  auto w = two_candidates(o.input);
  w.plan.groups[program_b].leaves = leaves;
  if (falls)
    w.plan.groups[0].falls_with = {w.plan.groups[program_b].id};
  auto job = w.prepared(describe_small(o));
  if (t.breaks)
    for (auto& engine : job->programs[program_b].engines)
      engine = std::make_shared<broken_engine>(engine, breaks_at);
  return job;
}

/// The groups whose variables are in the checkpoint.
std::set<std::string> groups_in(const checkpoint_content& c) {
  std::set<std::string> found;
  for (const std::string name : {"mixture", "a", "b"})
    if (!variables(c, name + "/").empty())
      found.insert(name);
  return found;
}

std::string outcome(const trouble_of_group& t, leaves_on leaves, bool falls, uint64_t seed) {
  CAPTURE(t.name);
  CAPTURE(falls);
  CAPTURE(seed);
  const small_job_options o{.max_steps = last_step, .recovers = t.recovers};
  simulated_job job{with_trouble(o, t, leaves, falls), seed};
  if (t.meet) {
    REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
    t.meet(job);
  }
  const auto result = job.wait(std::chrono::hours{100});
  REQUIRE_MESSAGE(result.has_value(), "the job ends");
  const auto content = newest_checkpoint(o.files).content;
  CHECK(job.left().empty());
  if (!*result)
    return "fails";
  CHECK((*result)->global_step == last_step);
  const auto there = groups_in(content);
  CHECK(there.contains("a"));
  if (there.size() == 3)
    return "recovers";
  return there.contains("mixture") ? "goes on without it" : "goes on without both";
}

std::string table() {
  std::string text =
      "| trouble of group b | `never` | `numbers` | `numbers_and_death` | the same, and the mixture falls with b |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const auto& t : troubles) {
    text += "| " + std::string{t.name} + " |";
    for (const auto& [leaves, falls] :
         {std::pair{leaves_on::never, false}, std::pair{leaves_on::numbers, false},
          std::pair{leaves_on::numbers_and_death, false}, std::pair{leaves_on::numbers_and_death, true}}) {
      text += cell_of([&, by = leaves, with = falls](uint64_t seed) { return outcome(t, by, with, seed); });
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the table of groups in docs/failures.md is what simulated jobs do") {
  check_page("docs/failures.md", table());
}

}  // namespace troupe::test
