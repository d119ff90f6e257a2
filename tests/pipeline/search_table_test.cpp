// The table of searches in docs/failures.md: each cell must be the outcome of simulated searches under several
// schedules.
#include "support/ended_jobs.hpp"
#include "support/page_table.hpp"
#include "support/small_search.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;

constexpr int64_t last_step = 30, iteration_end = 20;  ///< That of iteration 1, whose choice is disturbed.

struct listening_hook final : hook {
  needs begin(int64_t) override { return {.steps = {{.first = 0, .every = 1}}}; }
};

small_search searching() {
  small_search s;
  s.o.hooks = {std::make_shared<listening_hook>()};
  s.search.evaluator = search_evaluator{.input = small_dataset(16).batch(4)};
  s.search.report_materializer = report_materializer{.input = small_dataset(8).batch(4)};
  return s;
}

/// The candidates of the iteration are being evaluated.
bool evaluates(const simulated_job& job) {
  const auto all = job.progress().evaluating;
  return std::any_of(all.begin(), all.end(),
                     [](const evaluation_progress& e) { return e.name == "chooser" && e.step == iteration_end; });
}

struct moment_of_search {
  const char* name;
  bool (*is_there)(const simulated_job& job);
};

constexpr std::array moments{
    moment_of_search{"while it chooses", evaluates},
    moment_of_search{"while it grows",
                     [](const simulated_job& job) { return steps_of(job.events(), kind::chosen).size() == 2; }},
    moment_of_search{"while the next iteration starts",
                     [](const simulated_job& job) { return steps_of(job.events(), kind::grown).size() == 2; }},
};

struct trouble_of_node {
  const char* name;
  void (*meet)(simulated_job& job, const std::string& node);
};

constexpr std::array troubles{
    trouble_of_node{"dies", [](simulated_job& job, const std::string& node) { job.kill(node); }},
    trouble_of_node{"hangs", [](simulated_job& job, const std::string& node) { job.hang(node); }},
};

struct role_of_search {
  const char* name;
  const char* node;
};

constexpr std::array roles{
    role_of_search{"`infeed/0`", "infeed/0"},
    role_of_search{"a replica of a subnetwork", "t1_1_layer_dnn/replica/0"},
    role_of_search{"a replica of an ensemble", "t1_1_layer_dnn_grow_cr/replica/0"},
    role_of_search{"a replica of the previous ensemble", "previous/replica/0"},
    role_of_search{"`outfeed`", "outfeed"},
    role_of_search{"`checkpoint_writer`", "checkpoint_writer"},
    role_of_search{"`summary_writer`", "summary_writer"},
    role_of_search{"`callbacks`", "callbacks"},
    role_of_search{"the evaluator of the choice", "chooser"},
    role_of_search{"the evaluator of reports", "reporter"},
};

const checkpoint_content& undisturbed() {
  static const auto content = [] {
    const auto s = searching();
    simulated_job job{prepare_search(s), 1};
    run_to_end(job);
    return newest_checkpoint(s.o.files).content;
  }();
  return content;
}

/// The outcome of a search in one or two words. Whatever it is, the search or a process after it ends in the same bits.
std::string outcome(const role_of_search& who, const moment_of_search& when, const trouble_of_node& what,
                    uint64_t seed) {
  CAPTURE(who.name);
  CAPTURE(when.name);
  CAPTURE(what.name);
  CAPTURE(seed);
  const auto s = searching();
  std::string found;
  {
    simulated_job job{prepare_search(s), seed};
    REQUIRE(job.crank_until([&] { return when.is_there(job); }));
    if (!job.node(who.node))
      return no_such_node;
    const auto recoveries = steps_of(job.events(), kind::recovering).size();
    const auto before = newest_checkpoint(s.o.files).content.id.step;
    what.meet(job, who.node);
    const auto result = job.wait(std::chrono::hours{100});
    REQUIRE_MESSAGE(result.has_value(), "the search ends");
    const auto after = newest_checkpoint(s.o.files).content.id.step;
    CHECK(job.left().empty());
    if (!*result) {
      CHECK_MESSAGE(has(to_text(result->error()), who.node), to_text(result->error()));
      found = after > before ? "saves, fails" : "fails";
    } else {
      CHECK((*result)->global_step == last_step);
      found = steps_of(job.events(), kind::recovering).size() > recoveries ? "recovers" : "goes on";
    }
  }
  if (found.find("fails") != std::string::npos) {
    simulated_job next{prepare_search(s), seed + 100};
    run_to_end(next);
  }
  CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed()));
  return found;
}

std::string table() {
  std::string text = "| role | trouble |", rule = "| --- | --- |";
  for (const auto& m : moments) {
    text += std::string{" "} + m.name + " |";
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (const auto& who : roles)
    for (const auto& t : troubles) {
      text += "| " + std::string{who.name} + " | " + t.name + " |";
      for (const auto& m : moments)
        text += cell_of([&](uint64_t seed) { return outcome(who, m, t, seed); }, 2);
      text += "\n";
    }
  return text;
}

}  // namespace

TEST_CASE(
    "the table of searches in docs/failures.md is what simulated searches do, and each of them or the process after it "
    "ends in the bits of an undisturbed one") {
  check_page("docs/failures.md", table());
}

}  // namespace troupe::test
