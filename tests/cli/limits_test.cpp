// The program when the system refuses threads, memory or disk space, or does not answer.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <csignal>

namespace troupe::cli {

using test::has;

namespace {

/// A shell command that preloads tests/support/preloaded_faults.cpp with this variable set.
std::string with_fault(const std::string& variable) {
  return "export LD_PRELOAD='" TROUPE_PRELOADED_FAULTS "' " + variable;
}

std::vector<std::string> everything(const small_project& project, const std::string& model_dir) {
  return project.train({"--max-steps", "16", "--model-dir", project.path(model_dir), "--set", "run.replicas=2", "--set",
                        "run.intra_op_threads=2", "--json"});
}

}  // namespace

TEST_CASE("a thread that cannot be had, whichever it is, is an error that says so, and the program ends") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "8", "--quiet"})).status == 0);
  const std::vector<std::vector<std::string>> commands{
      everything(project, "new"),
      project.train({"--max-steps", "8"}),
      project.evaluate(),
      project.command("predict", {"--output", project.path("out.csv")}),
      {"inspect", project.path("model")}};
  for (const auto& command : commands) {
    CAPTURE(command.front());
    int refused = 0;
    for (int nth = 1; nth < 60; ++nth) {
      CAPTURE(nth);
      std::filesystem::remove_all(project.path("new"));
      const auto result = run_program(with_fault("REFUSE_THREAD=" + std::to_string(nth)), command);
      if (!has(result.err, "refused a thread\n")) {
        CHECK(result.status == 0);
        break;
      }
      ++refused;
      CHECK(result.status == 1);
      CHECK(has(result.err, "error: "));
      CHECK(has(result.err, "the system gave no thread"));
      CHECK_FALSE(std::filesystem::exists(project.path("out.csv.tmp")));
      if (command.back() == "--json") {
        REQUIRE_FALSE(result.out.empty());
        CHECK(result.events().back()["event"] == "failed");
      }
    }
    MESSAGE(command.front(), ": ", refused, " threads");
    CHECK(refused > 0);
  }
}

TEST_CASE(
    "with too little memory the program ends with an error, with enough with its result, and never by a signal or not "
    "at all") {
  const small_project project;
  int failed = 0, succeeded = 0;
  for (int megabytes = 40; megabytes <= 600; megabytes += megabytes < 200 ? 8 : 50) {
    CAPTURE(megabytes);
    std::filesystem::remove_all(project.path("new"));
    const auto result = run_program("ulimit -v " + std::to_string(megabytes * 1024), everything(project, "new"));
    if (has(result.err, "error while loading shared libraries"))
      continue;  // It failed before `main`.
    CAPTURE(result.err);
    CHECK((result.status == 0 || result.status == 1));
    CHECK(has(result.err, "error: ") == (result.status == 1));
    ++(result.status == 0 ? succeeded : failed);
  }
  CHECK(failed > 0);
  CHECK(succeeded > 0);
}

TEST_CASE(
    "with too small a stack every command ends with an error that says so, with a larger one with its result, and "
    "never by a signal") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "8", "--quiet"})).status == 0);
  const std::vector<std::vector<std::string>> commands{
      {"train", "--help", "all"},
      everything(project, "new"),
      project.evaluate(),
      project.command("predict", {"--limit", "3"}),
      project.command("export", {"--output", project.path("again")}),
      {"inspect", project.path("model")},
      {"checkpoints", "verify", project.path("model")},
      {"convert", project.path("model/model.ckpt-8"), project.path("converted.safetensors")},
      {"serve", project.path("none")}};
  for (const auto& command : commands) {
    CAPTURE(command.front());
    const int unlimited = command.front() == "serve" ? 1 : 0;
    for (const int kilobytes : {48, 64, 128, 256, 512}) {
      CAPTURE(kilobytes);
      for (const auto* made : {"new", "again", "converted.safetensors"})
        std::filesystem::remove_all(project.path(made));
      const auto result = run_program("ulimit -s " + std::to_string(kilobytes), command);
      CAPTURE(result.err);
      const bool refused = has(result.err, "error: resource_exhausted: the stack may take ");
      CHECK(result.status == (refused ? 1 : unlimited));
      CHECK(refused == (kilobytes <= 64));
    }
  }
}

TEST_CASE(
    "a limit on the size of files is an error that names the file, and the model directory is as whole as before") {
  const small_project project;
  const auto result = run_program("ulimit -f 16",
                                  project.train({"--max-steps", "8", "--set", "model.hidden_units=64", "--json"}));
  CHECK(result.status == 1);
  CHECK(has(result.err, "resource_exhausted: cannot write " + project.path("model") + "/model.ckpt-0"));
  CHECK(has(result.err, "File too large"));
  CHECK(result.events().back()["category"] == "resource_exhausted");
}

TEST_CASE("inspect says of a shard that it may not read that it may not be read, and calls nothing damaged") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "8", "--quiet"})).status == 0);
  for (const auto& path : {project.path("model"), project.path("model/model.ckpt-8")}) {
    CAPTURE(path);
    const auto result = run_program(with_fault("DENY_OPEN=model.ckpt-8-00000-of"), {"inspect", path});
    CHECK(result.status == 1);
    CHECK(has(result.out, "may not be read: Permission denied"));
    CHECK_FALSE(has(result.out, "damaged"));
  }
}

TEST_CASE("the first signal ends the program while it reads data or restores a checkpoint") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "8", "--quiet"})).status == 0);
  for (const auto& [command, where] :
       {std::pair{project.train({"--max-steps", "16", "--json"}), "train-images"},
        std::pair{project.train({"--max-steps", "16", "--json"}), "model.ckpt-8"},
        std::pair{project.evaluate({"--json"}), "t10k-images"}, std::pair{project.evaluate({"--json"}), "model.ckpt-8"},
        std::pair{project.command("predict", {}), "model.ckpt-8"}}) {
    for (const auto& [signal, status, name] : {std::tuple{SIGINT, 130, "SIGINT"}, std::tuple{SIGHUP, 129, "SIGHUP"}}) {
      CAPTURE(command.front());
      CAPTURE(where);
      CAPTURE(name);
      program running{with_fault(std::string{"HANG_AT_OPEN="} + where), command};
      REQUIRE(running.wait_for("hanging\n"));
      running.send(signal);
      auto result = running.finish();
      CHECK(result.status == status);
      result.out.erase(result.out.find("hanging\n"), 8);
      if (command.front() == "predict") {
        CHECK(result.out.empty());
        CHECK(result.err == std::string{"stopped by "} + name + " before the first result\n");
        continue;
      }
      REQUIRE_FALSE(result.out.empty());
      const auto last = result.events().back();
      CHECK(last["event"] == "stopped");
      CHECK(last["signal"] == name);
      CHECK_FALSE(last.contains("global_step"));
    }
  }
}

TEST_CASE("SIGHUP saves and stops as SIGTERM does, and is left alone where the parent ignores it") {
  const small_project project;
  const std::vector<std::string> endless{"--max-steps", "100000000", "--set", "save_checkpoints_steps=100000000",
                                         "--json"};
  program running{project.train(endless)};
  REQUIRE(running.wait_for("\"progress\""));
  running.send(SIGHUP);
  const auto stopped = running.finish();
  CHECK(stopped.status == 129);
  CHECK(stopped.events().back()["event"] == "stopped");
  CHECK(stopped.events().back()["signal"] == "SIGHUP");
  CHECK(stopped.events().back().contains("checkpoint"));

  program ignoring{"trap '' HUP", project.train(endless)};
  REQUIRE(ignoring.wait_for("\"progress\""));
  ignoring.send(SIGHUP);
  ignoring.send(SIGTERM);
  const auto ended = ignoring.finish();
  CHECK(ended.status == 143);
  CHECK(ended.events().back()["signal"] == "SIGTERM");
}

}  // namespace troupe::cli
