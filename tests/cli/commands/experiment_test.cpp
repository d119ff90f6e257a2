// The program runs troupe experiment.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

namespace troupe::cli {

using test::has;

namespace {

struct experimental_project : small_project {
  outcome run(std::vector<std::string> more,
              std::vector<std::string> set = {"experiment.eval_delay_secs=0",
                                              "experiment.check_interval_secs=0"}) const {
    for (const auto& s : set)
      more.insert(more.end(), {"--set", s});
    return run_program(command("experiment", std::move(more)));
  }
  bool has_results(const std::string& folder) const { return std::filesystem::exists(path("model/" + folder)); }
};

/// The steps of the events of that kind.
std::set<int64_t> steps_of(const outcome& of, const std::string& kind) {
  std::set<int64_t> steps;
  for (const auto& e : of.events())
    if (e["event"] == kind)
      steps.insert(e["global_step"].get<int64_t>());
  return steps;
}

}  // namespace

TEST_CASE_FIXTURE(experimental_project,
                  "experiment trains and evaluates without a schedule, on the way and at the end, and shows the "
                  "results") {
  const auto result = run({"--max-steps", "16", "--json"});
  REQUIRE_MESSAGE(result.status == 0, result.err);
  CHECK(steps_of(result, "evaluated") == std::set<int64_t>{0, 8, 16});
  const auto last = result.events().back();
  CHECK(last["event"] == "finished");
  CHECK(last["metrics"].contains("accuracy"));
  CHECK(has_results("eval"));
  CHECK(std::filesystem::exists(path("model/run.json")));
}

TEST_CASE_FIXTURE(experimental_project,
                  "each schedule is run by its name over one model directory, also without data it does not read") {
  CHECK(run({"--schedule", "train", "--max-steps", "16"}).status == 0);
  CHECK_FALSE(has_results("eval"));
  std::filesystem::remove(path("data/train-images-idx3-ubyte"));
  const auto followed = run({"--schedule", "continuous_eval", "--max-steps", "16", "--json"});
  REQUIRE_MESSAGE(followed.status == 0, followed.err);
  CHECK(steps_of(followed, "evaluated") == std::set<int64_t>{16});
  CHECK(has_results("eval_continuous"));
  const auto once = run({"--schedule", "evaluate", "--max-steps", "16"});
  CHECK_MESSAGE(once.status == 0, once.err);
  CHECK(has(once.out, "accuracy"));
  CHECK(has_results("eval_one_pass"));
  const auto training = run({"--schedule", "continuous_eval_on_train_data", "--max-steps", "16"});
  CHECK(training.status == 1);
  CHECK(has(training.err, "train-images-idx3-ubyte"));
}

TEST_CASE_FIXTURE(experimental_project, "an evaluation of a directory without a checkpoint gives no numbers") {
  const auto result = run({"--schedule", "evaluate", "--max-steps", "16"});
  CHECK(result.status == 1);
  CHECK(result.out.empty());
  CHECK(has(result.err, path("model") + " has no checkpoint to evaluate"));
}

TEST_CASE_FIXTURE(experimental_project, "a smoke run makes one step, and rounds of training end at the last step") {
  const auto smoke = run({"--schedule", "test", "--max-steps", "16", "--json"});
  REQUIRE_MESSAGE(smoke.status == 0, smoke.err);
  CHECK(smoke.events().back()["global_step"] == 1);
  const auto rounds = run({"--schedule", "continuous_train_and_eval", "--max-steps", "16", "--json"},
                          {"experiment.train_steps_per_iteration=6"});
  REQUIRE_MESSAGE(rounds.status == 0, rounds.err);
  CHECK(steps_of(rounds, "evaluated") == std::set<int64_t>{7, 13, 16});
}

TEST_CASE_FIXTURE(experimental_project, "what an experiment cannot do is a misuse that names it") {
  const auto misuse = [this](std::vector<std::string> more, const std::string& names,
                             std::vector<std::string> set = {}) {
    const auto result = run(std::move(more), std::move(set));
    CHECK(result.status == 2);
    CHECK(has(result.err, names));
  };
  misuse({"--schedule", "tests"}, "there is no schedule 'tests': the schedules are train, evaluate,");
  misuse({"--max-steps", "16"}, "experiment.check_interval_secs", {"experiment.check_interval_secs=-1"});
  misuse({"--max-steps", "16"}, "run.max_secs has no effect in an experiment", {"run.max_secs=3"});
  misuse({"--max-steps", "16"}, "[[stop_early]]", {"keep_best.metric=accuracy"});
  misuse({"--schedule", "run_std_server", "--max-steps", "16"}, "run_std_server needs a cluster");
  CHECK_FALSE(std::filesystem::exists(path("model")));
}

TEST_CASE_FIXTURE(experimental_project, "the schedule is that of the task which TF_CONFIG names") {
  const auto as = [this](const std::string& type) {
    const auto config = R"({"cluster": {")" + (type == "master" ? "master" : std::string{"chief"})
                        + R"(": ["a:1"], "worker": ["b:1"]}, "task": {"type": ")" + type + R"(", "index": 0}})";
    auto arguments = command("experiment", {"--max-steps", "16"});
    return run_program("export TF_CONFIG='" + config + "'", arguments);
  };
  const auto worker = as("worker");
  CHECK(worker.status == 1);
  CHECK(has(worker.err, "needs nodes"));
  const auto chief = as("chief");
  CHECK(chief.status == 2);
  CHECK(has(chief.err, "there is no default schedule for a task of the type 'chief'"));
}

TEST_CASE_FIXTURE(experimental_project, "a signal ends a training with a last checkpoint") {
  auto arguments = command("experiment", {"--schedule", "train", "--max-steps", "100000000", "--set",
                                          "save_checkpoints_steps=1000000", "--json"});
  program training{arguments};
  REQUIRE(training.wait_for("\"progress\""));
  training.send(SIGTERM);
  const auto stopped = training.finish();
  CHECK(stopped.status == 143);
  const auto last = stopped.events().back();
  CHECK(last["event"] == "stopped");
  CHECK(std::filesystem::exists(
      path("model/model.ckpt-" + std::to_string(last["global_step"].get<int64_t>()) + ".manifest.json")));
}

}  // namespace troupe::cli
