// Results that cannot be written to standard output: the program fails.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

/// A command for each kind of output. The directory has checkpoints of steps 8 and 16.
std::vector<std::vector<std::string>> commands(const small_project& project) {
  const auto model = project.path("model");
  return {project.train({"--max-steps", "16"}),
          project.train({"--max-steps", "16", "--json"}),
          project.train({"--max-steps", "16", "--quiet"}),
          project.evaluate(),
          project.evaluate({"--json"}),
          project.command("predict", {}),
          project.command("predict", {"--format", "jsonl"}),
          {"inspect", model},
          {"inspect", model, "--json"},
          {"inspect", "--config", project.config()},
          {"inspect", "--config", project.config(), "--graph", "train"},
          {"checkpoints", "list", model},
          {"checkpoints", "delete", model, "8", "--json"},
          {"--help"},
          {"--version"},
          {"train", "--help"},
          {"inspect", "--help"},
          {"checkpoints", "--help"}};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& w : words)
    text += w + " ";
  return text;
}

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("no command succeeds whose output met a full disk or a closed descriptor, and each says so once") {
  const std::string setups[][2] = {{"exec >/dev/full", "error: resource_exhausted: cannot write to standard output: No space left on device\n"},
                                   {"exec >&-", "error: failed_precondition: cannot write to standard output: Bad file descriptor\n"}};
  for (const auto& [setup, said] : setups) {
    const small_project project;
    REQUIRE(run_program(project.train({"--max-steps", "16", "--quiet"})).status == 0);
    for (const auto& command : commands(project)) {
      CAPTURE(setup);
      CAPTURE(joined(command));
      const auto result = run_program(setup, command);
      CHECK(result.status == 1);
      CHECK_MESSAGE(times(result.err, said) == 1, result.err);
      CHECK(times(result.err, "error: ") == 1);
    }
  }
}

TEST_CASE("a job goes on where its output cannot be written, keeps its checkpoints, and is no success in the end") {
  const small_project project;
  const auto result = run_program("exec >/dev/full", project.train({"--max-steps", "24", "--json"}));
  CHECK(result.status == 1);
  CHECK(run_program(project.evaluate()).out.starts_with("step 24,"));
}

TEST_CASE("a pipe whose reader has what it wanted ends each command silently, with success") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "16", "--quiet"})).status == 0);
  for (const auto& command : commands(project)) {
    CAPTURE(joined(command));
    program running{command};
    running.stop_reading();
    const auto result = running.finish();
    CHECK(result.status == 0);
    CHECK_FALSE(has(result.err, "error: "));
  }
}

TEST_CASE("predictions that a limit on file sizes cuts off are an error, and not fewer predictions") {
  const small_project project{2'000};
  REQUIRE(run_program(project.train({"--max-steps", "8", "--quiet", "--set", "evaluate.when=never"})).status == 0);
  const auto to = project.path("cut.csv");
  const auto result = run_program("ulimit -f 16; exec >" + to, project.command("predict", {}));
  CHECK(result.status == 1);
  CHECK(has(result.err, "error: resource_exhausted: cannot write to standard output: File too large\n"));
  CHECK_FALSE(has(result.err, "2000 results in"));
}

}  // namespace troupe::cli
