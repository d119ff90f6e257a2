// The program shows the status of a job that another process runs, and writes traces.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace troupe::cli {

using test::has;

TEST_CASE("top shows what a job does that was started with --status, also once it has ended") {
  const small_project project;
  program running{
      project.train({"--max-steps", "100000000", "--set", "save_checkpoints_steps=100000000", "--status", "--json"})};
  REQUIRE(running.wait_for("\"progress\""));
  nlohmann::json seen;
  do {
    const auto shown = run_program({"top", project.path("model"), "--json"});
    if (shown.status == 0)
      seen = nlohmann::json::parse(shown.out);
    // A status of the job's beginning may have a report, too.
  } while (seen.is_null() || seen["report"]["actors"].empty() || seen["phase"] == "starting");
  CHECK(seen["phase"] == "training");
  CHECK(seen["process"] == running.id());
  const auto text = run_program({"top", project.path("model")});
  CHECK(text.status == 0);
  CHECK(has(text.out, project.path("model") + ": training, step "));
  CHECK(has(text.out, "process " + std::to_string(running.id())));
  running.send(SIGINT);
  CHECK(running.finish().status == 130);
  CHECK(has(run_program({"top", project.path("model"), "--once"}).out, "model: finished, step "));
}

TEST_CASE("top says how a job gets a status where there is none, and takes one directory") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "8"})).status == 0);
  const auto none = run_program({"top", project.path("model")});
  CHECK(none.status == 1);
  CHECK(has(none.err, ".status.json"));
  CHECK(has(none.err, "--status"));
  std::ofstream{project.path("model/.status.json")} << "{";
  const auto damaged = run_program({"top", project.path("model")});
  CHECK(damaged.status == 1);
  CHECK(has(damaged.err, ".status.json"));
  CHECK(run_program({"top"}).status == 2);
  CHECK(run_program({"top", "a", "b"}).status == 2);
}

TEST_CASE("--trace writes the steps that it is asked for") {
  const small_project project;
  const auto file = project.path("trace.json");
  REQUIRE(run_program(project.train({"--max-steps", "40", "--trace", file, "--trace-steps", "20:23"})).status == 0);
  const auto trace = nlohmann::json::parse(std::ifstream{file});
  CHECK(trace["otherData"]["first_step"] == 20);
  CHECK(trace["otherData"]["end_step"] == 23);
  CHECK(trace["traceEvents"].size() > 10);
}

TEST_CASE("steps that are none and flags that go with others are refused") {
  const small_project project;
  for (const auto* steps : {"", "5", "5:", ":5", "7:7", "9:3", "-1:3", "1:2:3", "a:b", "1:99999999999999999999"}) {
    CAPTURE(steps);
    const auto refused = run_program(
        project.train({"--max-steps", "8", "--trace", project.path("t"), "--trace-steps", steps}));
    CHECK(refused.status == 2);
    CHECK(has(refused.err, "--trace-steps"));
  }
  CHECK(has(run_program(project.train({"--max-steps", "8", "--trace-steps", "1:2"})).err,
            "--trace-steps goes with --trace FILE"));
  const auto nowhere = run_program(project.train({"--max-steps", "8", "--status", "--set", "run.model_dir=none"}));
  CHECK(nowhere.status == 2);
  CHECK(has(nowhere.err, "--status needs a model directory"));
}

}  // namespace troupe::cli
