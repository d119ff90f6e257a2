// The program runs troupe check: alone, and as each task of a cluster.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

struct clustered_project : small_project {
  /// A file with a cluster of a chief, two workers and a parameter server, of which `type` `index` is this process.
  std::string task(const std::string& type, int index, const std::string& more = "") const {
    const auto file = path(type + std::to_string(index) + ".json");
    std::ofstream{file}
        << R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}, "task": {"type": ")" << type
        << R"(", "index": )" << index << "}" << more << "}";
    return file;
  }
  outcome check(std::vector<std::string> more) const {
    more.insert(more.end(), {"--max-steps", "16"});
    return run_program(command("check", std::move(more)));
  }
  nlohmann::json checked(const std::string& type, int index) const {
    const auto result = check({"--tf-config", task(type, index), "--json"});
    CHECK_MESSAGE(result.status == 0, result.err);
    return nlohmann::json::parse(result.out);
  }
  void remove_data(const std::string& name) const {
    std::filesystem::remove(path("data/" + name + "-images-idx3-ubyte"));
  }
};

/// Whether the plan has a node of this role.
bool plans(const nlohmann::json& process, const std::string& role) {
  for (const auto& node : process["plan"]["nodes"])
    if (node["role"] == role)
      return true;
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(clustered_project,
                  "check shows the model and the plan of a process alone, and leaves nothing behind") {
  const auto result = check({});
  CHECK_MESSAGE(result.status == 0, result.err);
  CHECK(result.err.empty());
  CHECK(result.out.starts_with("a process that works alone: trains and evaluates\n  duties  checkpoints, "));
  CHECK(has(result.out, "(train): 12730 parameters, 12730 trainable; a program for 32 rows takes "));
  CHECK(has(result.out, "(evaluate): 12730 parameters"));
  CHECK(has(result.out, "infeed/0 => replica/0"));
  CHECK_FALSE(std::filesystem::exists(path("model")));
  const auto process = nlohmann::json::parse(check({"--json"}).out);
  CHECK(process["kind"] == "process");
  CHECK(process["task"].is_null());
  CHECK(process["models"].size() == 2);
  CHECK(plans(process, "evaluator"));
}

TEST_CASE_FIXTURE(clustered_project, "check refuses what train would refuse before its first step") {
  const auto refused = [this](const std::vector<std::string>& set, const std::string& names) {
    std::vector<std::string> more;
    for (const auto& s : set)
      more.insert(more.end(), {"--set", s});
    const auto result = check(more);
    CHECK(result.status == 2);
    CHECK_MESSAGE(has(result.err, names), result.err);
    more.insert(more.end(), {"--max-steps", "16"});
    CHECK(run_program(command("train", more)).status == 2);
  };
  refused({"keep_best.metric=nope"}, "keep_best asks for the metric 'nope'");
  refused({"keep_best.metric=loss", "keep_best.evaluation=nope"}, "keep_best needs an evaluation named 'nope'");
  refused({"stop_early[0].rule=no_decrease", "stop_early[0].metric=nope", "stop_early[0].max_steps=8"},
          "asks for the metric 'nope'");
  CHECK_FALSE(std::filesystem::exists(path("model")));
}

TEST_CASE_FIXTURE(clustered_project, "each task has its own part, and opens only the data that it reads") {
  const auto chief = checked("chief", 0);
  CHECK(chief["is_chief"] == true);
  CHECK(chief["server"] == "a:1");
  CHECK(chief["plan"]["snapshot_parts"].size() == 3);
  CHECK(plans(chief, "summary_writer"));
  CHECK_FALSE(plans(chief, "evaluator"));
  remove_data("t10k");
  CHECK(checked("chief", 0) == chief);
  const auto worker = checked("worker", 1);
  CHECK(worker["master"] == "grpc://c:1");
  CHECK(worker["start_delay_secs"] == 10);
  CHECK(worker["global_id_in_cluster"] == 2);
  CHECK(worker["models"].size() == 1);
  CHECK(plans(worker, "replica"));
  CHECK(worker["plan"]["snapshot_parts"].empty());
  CHECK_FALSE(plans(worker, "summary_writer"));
  const auto without_tests = check({"--tf-config", task("evaluator", 0)});
  CHECK(without_tests.status == 1);
  CHECK(has(without_tests.err, "t10k-images-idx3-ubyte"));
  remove_data("train");
  CHECK(check({"--tf-config", task("worker", 1)}).status == 1);
  const auto server = checked("ps", 0);
  CHECK(server["plan"].is_null());
  CHECK(server["models"].empty());
  CHECK(server["peers"].size() == 4);
}

TEST_CASE_FIXTURE(clustered_project, "an evaluator needs the test data alone") {
  remove_data("train");
  const auto evaluator = checked("evaluator", 0);
  CHECK(evaluator["trains"] == false);
  CHECK(evaluator["cluster"].empty());
  CHECK(evaluator["plan"].is_null());
  REQUIRE(evaluator["models"].size() == 1);
  CHECK(evaluator["models"][0]["mode"] == "evaluate");
}

TEST_CASE_FIXTURE(clustered_project,
                  "what is wrong with a configuration or a cluster is found before anything starts") {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& part) {
    CAPTURE(part);
    const auto result = check(more);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(has(result.err, part));
  };
  refused({"--set", "optimizer.rate=fast"}, "optimizer.rate");
  refused({"--batch-size", "300"}, "batch(300");
  refused({"--tf-config", path("none.json")}, "none.json");
  refused({"--tf-config", task("worker", 2)}, "worker2.json: TF_CONFIG: task.index must be below 2");
  refused({"--tf-config", task("evaluator", 1)}, "a cluster has one evaluator");
  refused({"--tf-config", task("chief", 0, R"(, "model_dir": "elsewhere")")}, "'elsewhere' in the cluster");
  CHECK(has(run_program({"check", "--config", config()}).err, "run.max_steps is missing"));
}

TEST_CASE_FIXTURE(clustered_project, "train and check look at TF_CONFIG, and no other command does") {
  const auto as_worker =
      "export TF_CONFIG='"
      R"({"cluster": {"chief": ["a:1"], "worker": ["b:1"]}, )"
      R"("task": {"type": "worker", "index": 0}})"
      "'";
  const auto trained = run_program(as_worker, train({"--max-steps", "8"}));
  CHECK(trained.status == 1);
  CHECK(has(trained.err, "task 0 of the type 'worker' cannot run yet"));
  CHECK_FALSE(std::filesystem::exists(path("model")));
  const auto checked_here = run_program(as_worker, command("check", {"--max-steps", "8"}));
  CHECK(checked_here.status == 0);
  CHECK(checked_here.out.starts_with("worker 0 of a cluster: trains\n"));
  const std::string wrong = "export TF_CONFIG='[]'";
  for (const auto* name : {"train", "check"})
    CHECK(has(run_program(wrong, command(name, {"--max-steps", "8"})).err, "TF_CONFIG: it must be an object, not []"));
  REQUIRE(run_program("export TF_CONFIG='{}'", train({"--max-steps", "8", "--quiet"})).status == 0);
  CHECK(run_program(wrong, evaluate()).status == 0);
  CHECK(run_program(wrong, {"inspect", path("model")}).status == 0);
}

TEST_CASE_FIXTURE(clustered_project, "the model directory of TF_CONFIG counts where the command line names none") {
  const auto config_without = path("no_directory.toml");
  std::ofstream{config_without} << "[model]\nhidden_units = [16]\nclasses = 10\n[input]\ndata = \"" << path("data")
                                << "\"\nbatch_size = 32\n";
  const auto result = run_program("export TF_CONFIG='{\"model_dir\": \"" + path("from_cluster") + "\"}'",
                                  {"train", "--config", config_without, "--max-steps", "8", "--quiet"});
  CHECK_MESSAGE(result.status == 0, result.err);
  CHECK(std::filesystem::exists(path("from_cluster") + "/checkpoint"));
}

}  // namespace troupe::cli
