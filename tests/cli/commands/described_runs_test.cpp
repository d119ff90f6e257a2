// Model directories that record the configuration of their last run: commands without --config, and reports of what has
// changed since.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

struct trained_project : small_project {
  trained_project() {
    REQUIRE(run_program(train({"--max-steps", "8", "--set", "optimizer.rate=1e-2", "--quiet"})).status == 0);
  }
  std::string model(const std::string& name = "") const { return path("model") + name; }
};

}  // namespace

TEST_CASE_FIXTURE(trained_project, "evaluate and predict need nothing but a model directory, also after it was moved") {
  const auto told = run_program(evaluate({"--json"}));
  REQUIRE_MESSAGE(told.status == 0, told.err);
  const auto predicted = run_program(command("predict", {"--quiet"}));
  REQUIRE(predicted.status == 0);
  const auto moved = path("moved");
  std::filesystem::rename(model(), moved);
  std::filesystem::remove(config());
  const auto again = run_program({"evaluate", moved, "--json"});
  CHECK_MESSAGE(again.status == 0, again.err);
  CHECK(again.events().back()["metrics"] == told.events().back()["metrics"]);
  CHECK(run_program({"predict", moved, "--quiet"}).out == predicted.out);
  SUBCASE("a flag beats what the directory says, as it beats a file") {
    const auto fewer = run_program({"evaluate", moved, "--set", "evaluate.batch_size=64", "--json"});
    CHECK(fewer.events().back()["batches"] == 1);
  }
  SUBCASE("train goes on in it as it was configured") {
    const auto more = run_program({"train", moved, "--max-steps", "16"});
    CHECK_MESSAGE(more.status == 0, more.err);
    CHECK(has(more.out, "finished at step 16"));
    CHECK(has(more.out, "  run.max_steps was 8 and is 16\n"));
    CHECK_FALSE(has(more.out, "optimizer.rate was"));
  }
}

TEST_CASE_FIXTURE(trained_project, "relative paths of data are those of the run, wherever a command is begun") {
  const auto here = path("elsewhere");
  std::filesystem::create_directories(here);
  // The run starts in the project's directory, and later commands elsewhere.
  const auto run = run_program("cd " + path(""), {"train", "--config", config(), "--set", "input.data=./data",
                                                  "--model-dir", path("relative"), "--max-steps", "8", "--quiet"});
  REQUIRE_MESSAGE(run.status == 0, run.err);
  const auto told = run_program("cd " + here, {"evaluate", "../relative", "--json"});
  CHECK_MESSAGE(told.status == 0, told.err);
  std::filesystem::rename(path("data"), path("away"));
  const auto gone = run_program({"evaluate", path("relative")});
  CHECK(gone.status == 1);
  CHECK(has(gone.err,
            "note: " + path("relative") + " says that its last run read this; --data or --set names other data"));
  CHECK(run_program({"evaluate", path("relative"), "--data", path("away"), "--quiet"}).status == 0);
  const auto own = run_program({"evaluate", path("relative"), "--data", path("nowhere")});
  CHECK(own.status == 1);
  CHECK_FALSE_MESSAGE(has(own.err, "says that its last run read this"), "the user has named it");
}

TEST_CASE_FIXTURE(trained_project, "a changed configuration is told with its differences, an equal one is not") {
  const auto same = run_program(train({"--max-steps", "8", "--set", "optimizer.rate=0.01", "--json"}));
  CHECK(same.events()[0]["event"] == "started");
  const auto changed = run_program(
      train({"--max-steps", "16", "--set", "optimizer.name=momentum", "--set", "optimizer.rate=0.02", "--json"}));
  REQUIRE_MESSAGE(!changed.events().empty(), changed.err);
  const auto told = changed.events()[0];
  CHECK(told["event"] == "changed");
  const auto find = [&](const std::string& key) {
    for (const auto& d : told["settings"])
      if (d["key"] == key)
        return d;
    return nlohmann::json{};
  };
  CHECK(find("optimizer.name")["now"] == "momentum");
  CHECK(find("optimizer.rate")["before"] == "0.01");
  CHECK(find("optimizer.rate")["now"] == "0.02");
  CHECK(find("optimizer.beta1")["now"].is_null());
  CHECK(find("run.max_steps")["now"] == "16");
  CHECK(find("run.model_dir").is_null());
  CHECK(find("input.batch_size").is_null());
}

TEST_CASE_FIXTURE(trained_project,
                  "the directory keeps the command, the versions and the settings, and inspect shows them") {
  const auto shown = nlohmann::json::parse(run_program({"inspect", model(), "--json"}).out);
  const auto& run = shown["run"];
  CHECK(run["command"][0] == "troupe");
  CHECK(run["command"][1] == "train");
  CHECK(run["settings"]["optimizer.rate"] == "1e-2");
  CHECK(run["resolved"]["optimizer.rate"] == "0.01");
  CHECK(run["resolved"]["run.replicas"] == "1");
  CHECK_FALSE(run["settings"].contains("run.model_dir"));
  CHECK(run["versions"].contains("troupe"));
  CHECK(has(run_program({"inspect", model()}).out, " by troupe "));
}

TEST_CASE_FIXTURE(trained_project,
                  "a directory without a record, a damaged one and one of another program say how to go on") {
  const auto record = model("/run.json");
  const auto refused = [&](std::vector<std::string> arguments, int status, const std::string& part) {
    const auto result = run_program(std::move(arguments));
    CHECK(result.status == status);
    CHECK(has(result.err, part));
    CHECK(has(result.err, "note: --config FILE names the configuration"));
  };
  {
    std::fstream file{record, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(40);
    file.put('x');
  }
  refused({"evaluate", model()}, 1, record + " is damaged: its checksum is ");
  const auto shown = run_program({"inspect", model()});
  CHECK(shown.status == 0);
  CHECK(has(shown.out, "warning: " + record + " is damaged"));
  std::filesystem::remove(record);
  refused({"predict", model()}, 2, model() + " does not say what it was configured with: it has no run.json");
  refused({"evaluate", path("none")}, 2, path("none"));
  CHECK(run_program(evaluate()).status == 0);  // A --config replaces the record.
  SUBCASE("training with a configuration goes on, with a warning, and keeps a whole record") {
    std::ofstream{record} << "{}";
    const auto more = run_program(train({"--max-steps", "16", "--set", "optimizer.rate=1e-2"}));
    CHECK(more.status == 0);
    CHECK(has(more.err, "warning: " + record + " is damaged"));
    CHECK(run_program({"evaluate", model(), "--quiet"}).status == 0);
  }
}

TEST_CASE_FIXTURE(trained_project, "a directory and another name for it, or a --config, cannot be given together") {
  const auto refused = [](std::vector<std::string> arguments, const std::string& part) {
    const auto result = run_program(std::move(arguments));
    CHECK(result.status == 2);
    CHECK(has(result.err, part));
  };
  refused({"evaluate", model(), "--model-dir", model()}, "--model-dir cannot be given together with a directory");
  refused({"evaluate", model(), "--config", config()}, "a model directory takes the place of --config");
  refused({"evaluate", model(), "again"}, "unexpected argument 'again'");
}

TEST_CASE_FIXTURE(trained_project,
                  "a description for TensorBoard has the graph and the hyperparameters, and a run with the same "
                  "settings leaves it alone") {
  const auto descriptions = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{model()})
      if (entry.path().extension() == ".description")
        found.push_back(entry.path());
    return found;
  };
  REQUIRE(descriptions().size() == 1);
  const auto shown = nlohmann::json::parse(run_program({"inspect", descriptions()[0], "--json"}).out);
  CHECK(shown["whole"] == true);
  CHECK(shown["attachments"][0]["what"] == "graph");
  CHECK(shown["attachments"][0]["nodes"] > 5);
  std::map<std::string, std::string> said;
  for (const auto& t : shown["tags"])
    said[t["tag"]] = t["last"];
  CHECK(has(said["_hparams_/session_start_info"], "optimizer.rate = 0.01"));
  CHECK(has(said["_hparams_/session_start_info"], "model.hidden_units = [16]"));
  CHECK(has(said["_hparams_/experiment"], "eval/accuracy"));
  CHECK(said["_hparams_/session_end_info"] == "ended");
  REQUIRE(run_program(train({"--max-steps", "16", "--set", "optimizer.rate=1e-2", "--quiet"})).status == 0);
  CHECK(descriptions().size() == 2);  // The change is in max_steps.
  REQUIRE(run_program({"train", model(), "--set", "run.max_steps=none", "--set", "run.steps=8", "--quiet"}).status
          == 0);
  REQUIRE(run_program({"train", model(), "--quiet"}).status == 0);
  CHECK(descriptions().size() == 3);
}

}  // namespace troupe::cli
