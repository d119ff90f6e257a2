// The program must fail if its results cannot be written to standard output.
#include "cli/terminal/output.hpp"

#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

/// One command for each kind of output. The directory has checkpoints of steps 8 and 16.
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
  const std::string setups[][2] = {
      {"exec >/dev/full", "error: resource_exhausted: cannot write to standard output: No space left on device\n"},
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

TEST_CASE("characters that control a terminal and bytes that are no UTF-8 are spelt out, and all others stay") {
  const std::string shown =
      "gr\xc3\xb6\xc3\x9f"
      "e\t\xe2\x82\xac \xf0\x9f\x98\x80\n";
  CHECK(visible(shown) == shown);
  CHECK(visible("\x1b[2J\r\a\x7f") == "\\x1b[2J\\x0d\\x07\\x7f");
  CHECK(visible(std::string_view{"a\0b", 3}) == "a\\x00b");
  CHECK(visible("\xc2\x9b"
                "31m\xc2\xa0")
        == "\\xc2\\x9b31m\xc2\xa0");
  CHECK(visible("\x9b \xff \xc3( \xe2\x82") == "\\x9b \\xff \\xc3( \\xe2\\x82");
  CHECK(visible("\xe0\x82\x9b \xf0\x80\x82\x9b \xc1\x9b") == "\\xe0\\x82\\x9b \\xf0\\x80\\x82\\x9b \\xc1\\x9b");
  for (const std::string once : {"\x1b", "\\x1b", "\xff"})
    CHECK(visible(visible(once)) == visible(once));
}

TEST_CASE("COLUMNS is a whole number of at least 1, or nothing") {
  CHECK(*parse_columns(nullptr) == std::nullopt);
  CHECK(*parse_columns("") == std::nullopt);
  CHECK(*parse_columns("1") == 1);
  CHECK(*parse_columns("132") == 132);
  for (const std::string wrong : {"0", "-80", "80x", "wide", " 80", "99999999999999999999999"}) {
    const auto columns = parse_columns(wrong.c_str());
    REQUIRE_FALSE(columns);
    CHECK(columns.error().category == errc::invalid_argument);
    CHECK(columns.error().message
          == "COLUMNS, the width of the window, must be a whole number of at least 1, not '" + wrong + "'");
  }
}

}  // namespace troupe::cli
