// The failure table of docs/failures.md: each cell must be the outcome of simulated jobs under several schedules.
#include "support/page_table.hpp"
#include "support/simulated_job.hpp"
#include "support/small_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using phase = job_progress::phase;

constexpr int64_t last_step = 20;

struct moment_of_job {
  const char* name;
  std::string slowed;         ///< A node that takes 1 of 40 turns, so that the moment lasts.
  bool fails_before = false;  ///< A replica dies before the moment.
  std::function<bool(const simulated_job&)> is_there;
};

int64_t saved(const simulated_job& job) { return job.progress().committed_step; }

const std::vector<moment_of_job>& moments() {
  static const std::vector<moment_of_job> all{
      {"before the first step", {}, false, [](const simulated_job& j) { return j.progress().now >= phase::restoring; }},
      {"in the middle", {}, false, [](const simulated_job& j) { return j.progress().step >= 7; }},
      {"while saving", "checkpoint_writer", false,
       [](const simulated_job& j) { return j.progress().step >= 5 && saved(j) < 5 && saved(j) >= 0; }},
      {"while evaluating", "evaluator/replica/0", false,
       [](const simulated_job& j) { return saved(j) >= 5 && steps_of(j.events(), kind::evaluated).empty(); }},
      {"while ending", "checkpoint_writer", false,
       [](const simulated_job& j) { return j.progress().step == last_step && saved(j) < last_step; }},
      {"while recovering", {}, true, [](const simulated_job& j) { return j.progress().now == phase::recovering; }},
  };
  return all;
}

struct trouble_of_node {
  const char* name;
  void (*meet)(simulated_job& job, const std::string& node);
};

constexpr std::array troubles{
    trouble_of_node{"dies", [](simulated_job& job, const std::string& node) { job.kill(node); }},
    trouble_of_node{"throws", [](simulated_job& job, const std::string& node) { job.throw_in(node); }},
    trouble_of_node{"hangs", [](simulated_job& job, const std::string& node) { job.hang(node); }},
    trouble_of_node{"is slow", [](simulated_job& job, const std::string& node) { job.slow_down(node, 50); }},
    trouble_of_node{"is paused",
                    [](simulated_job& job, const std::string& node) {
                      job.hang(node);
                      for (int turn = 0; turn < 300 && !job.ended(); ++turn)
                        job.crank();
                      job.unhang(node);
                    }},
};

constexpr std::array roles{"infeed/0",          "replica/1",      "reducer",   "outfeed",
                           "checkpoint_writer", "summary_writer", "evaluator", "callbacks"};

struct listening_hook final : hook {
  needs begin(int64_t) override { return {.steps = {{.first = 0, .every = 1}}}; }
};

small_job_options options_of() {
  return {.max_steps = last_step,
          .replicas = 2,
          .evaluates = true,
          .hooks = {std::make_shared<listening_hook>()},
          .recovers = 10};
}

training_job described(const small_job_options& o) {
  auto d = describe_small(o);
  d.basis.config.summary_steps = 2;
  d.evaluations.front().sanity_batches = 0;  // Only checkpoints are evaluated.
  return d;
}

const checkpoint_content& undisturbed() {
  static const auto content = [] {
    auto o = options_of();
    auto prepared = prepare(described(o));
    simulated_job job{*prepared, 1};
    REQUIRE(job.wait(std::chrono::hours{1})->has_value());
    return newest_checkpoint(o.files).content;
  }();
  return content;
}

/// The step of the newest checkpoint; -1 if there is none.
int64_t newest_step(const std::shared_ptr<file_system>& files) {
  const auto store = checkpoint_store::open(files, "/run", {.read_only = true});
  REQUIRE(store);
  const auto newest = (*store)->newest();
  return newest ? newest->step : -1;
}

/// The outcome of a job in one or two words.
std::string outcome(const std::string& node, const moment_of_job& when, const trouble_of_node& what, uint64_t seed) {
  CAPTURE(node);
  CAPTURE(when.name);
  CAPTURE(what.name);
  CAPTURE(seed);
  auto o = options_of();
  o.reducers = node == "reducer";
  auto prepared = prepare(described(o));
  REQUIRE(prepared);
  simulated_job job{*prepared, seed};
  if (!when.slowed.empty() && when.slowed != node)
    job.slow_down(when.slowed, 40);
  if (when.fails_before) {
    REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
    REQUIRE(job.kill("replica/0"));
  }
  REQUIRE(job.crank_until([&] { return when.is_there(job) || job.ended(); }));
  const auto before = saved(job);
  const auto recoveries = steps_of(job.events(), kind::recovering).size();
  what.meet(job, node);
  if (!when.slowed.empty() && when.slowed != node)
    job.slow_down(when.slowed, 1);
  const auto result = job.wait(std::chrono::hours{100});
  REQUIRE_MESSAGE(result.has_value(), "the job ends");
  const auto kept = newest_step(o.files);  // Read before `left`, which lets a hanging node go on.
  CHECK(job.left().empty());
  if (!*result)
    return kept > std::max<int64_t>(before, 0) ? "saves, fails" : "fails";
  CHECK((*result)->global_step == last_step);
  CHECK(same_state(newest_checkpoint(o.files).content, undisturbed()));
  return steps_of(job.events(), kind::recovering).size() > recoveries ? "recovers" : "goes on";
}

std::string table() {
  std::string text = "| role | trouble |";
  for (const auto& m : moments())
    text += std::string{" "} + m.name + " |";
  text += "\n| --- | --- |";
  for (size_t i = 0; i < moments().size(); ++i)
    text += " --- |";
  text += "\n";
  for (const auto* node : roles)
    for (const auto& t : troubles) {
      text += "| `" + std::string{node} + "` | " + t.name + " |";
      for (const auto& m : moments()) {
        text += cell_of([&](uint64_t seed) { return outcome(node, m, t, seed); });
      }
      text += "\n";
    }
  return text;
}

}  // namespace

TEST_CASE(
    "the failure table in docs/failures.md is what simulated jobs do, and whatever goes on or recovers has the bits of "
    "an undisturbed job") {
  check_page("docs/failures.md", table());
}

}  // namespace troupe::test
