#include "tests/estimator/small_start.hpp"

#include <troupe/run_description.hpp>

#include <doctest/doctest.h>

#include <fstream>

namespace troupe::test {

namespace {

/// The texts in the description files of a directory, by tag.
std::map<std::string, std::string> described(const std::string& directory) {
  std::map<std::string, std::string> said;
  const auto description = inspect_directory(directory);
  for (const auto& name : description->event_files)
    if (name.ends_with(".description")) {
      const auto log = inspect_event_file(directory + "/" + name);
      REQUIRE(log);
      CHECK(log->damages.empty());
      for (const auto& t : log->tags)
        said[t.tag] = t.other ? t.other->text : "";
      for (const auto& a : log->attachments)
        said[a.what] = std::to_string(a.nodes);
    }
  return said;
}

run_description description_of(const estimator& e) {
  run_description about{.record = {.command = {"mine"}, .settings = {{"rate", "0.5"}}, .resolved = {{"rate", "0.5"}}},
                        .values = {{"rate", 0.5}}};
  about.graph = [e] { return inspect_graph(e, small_training(1).input, mode::train, graph_depth::graph_only); };
  return about;
}

}  // namespace

TEST_CASE("a program's own job keeps its record with the library's versions, and is described for TensorBoard") {
  temporary_directory directory;
  const auto path = directory / "run";
  const auto e = small_estimator(path);
  const auto result = train(e, small_training(4, {describe_run(path, description_of(e))}));
  REQUIRE_MESSAGE(result, why(result));
  const auto record = read_run_record(path);
  REQUIRE_MESSAGE(record, why(record));
  CHECK(record->command == std::vector<std::string>{"mine"});
  CHECK(record->settings.at("rate") == "0.5");
  CHECK(record->wall_time > 1e9);
  for (const char* name : {"troupe", "numerics", "cpu"})
    CHECK(record->versions.contains(name));
  const auto said = described(path);
  CHECK(said.at("_hparams_/session_start_info") == "rate = 0.5");
  CHECK(said.at("_hparams_/session_end_info") == "ended");
  CHECK(std::stoi(said.at("graph"))
        == std::ssize(inspect_graph(e, small_training(1).input, mode::train, graph_depth::graph_only)->nodes));
}

TEST_CASE("a job that fails is described as failed, and what cannot be written is told while the job goes on") {
  temporary_directory directory;
  const auto path = directory / "run";
  const auto e = small_estimator(path);
  SUBCASE("a failure") {
    struct bomb : hook {
      needs begin(int64_t) override { return {.steps = {{.first = 2}}}; }
      void on_step(const step_facts&, job_control&) override { throw std::runtime_error{"boom"}; }
    };
    CHECK_FALSE(train(e, small_training(4, {describe_run(path, description_of(e)), std::make_shared<bomb>()})));
    CHECK(described(path).at("_hparams_/session_end_info") == "failed");
  }
  SUBCASE("a directory in the place of the record, and a graph that fails") {
    REQUIRE(std::filesystem::create_directories(path + "/run.json"));
    std::vector<std::string> told;
    auto about = description_of(e);
    about.graph = [] { return expected<graph_description>{fail(errc::state, "no graph today")}; };
    about.warn = [&told](const std::string& text) { told.push_back(text); };
    CHECK(train(e, small_training(4, {describe_run(path, about)})));
    REQUIRE(told.size() == 2);
    CHECK(told[0].ends_with(": the record of the run is not kept"));
    CHECK(told[1] == "no graph today: TensorBoard is told neither of the hyperparameters nor of the graph");
    CHECK(described(path).contains("_hparams_/session_start_info"));
  }
}

TEST_CASE("a job that is refused before its first step leaves the record of what the directory was trained with") {
  temporary_directory directory;
  const auto path = directory / "run";
  const auto e = small_estimator(path);
  struct stops_at_5 : hook {
    needs begin(int64_t) override { return {.steps = {{.first = 5, .gate = true}}}; }
    void on_step(const step_facts&, job_control& job) override { job.stop(); }
  };
  REQUIRE(train(e, small_training(10, {describe_run(path, description_of(e)), std::make_shared<stops_at_5>()})));
  auto other = description_of(e);
  other.record.resolved["rate"] = other.record.settings["rate"] = "0.7";
  auto training = small_training(10, {describe_run(path, other)});
  training.input = small_dataset().shuffle().batch(3).repeat();  // No batch of 3 begins at example 20.
  for (int tries = 0; tries < 5; ++tries) {
    const auto refused = train(e, training);
    REQUIRE_FALSE(refused);
    CHECK(read_run_record(path)->settings.at("rate") == "0.5");
  }
  REQUIRE(train(e, small_training(10, {describe_run(path, other)})));
  CHECK(read_run_record(path)->settings.at("rate") == "0.7");
}

TEST_CASE("a job that trains nothing leaves the record of the run that made the state") {
  temporary_directory directory;
  const auto path = directory / "run";
  const auto e = small_estimator(path);
  REQUIRE(train(e, small_training(4, {describe_run(path, description_of(e))})));
  auto other = description_of(e);
  other.record.resolved["rate"] = other.record.settings["rate"] = "0.7";
  auto running = start(e, small_training(4, {describe_run(path, other)}));
  REQUIRE(running);
  REQUIRE(running->wait(soon));
  CHECK(read_run_record(path)->settings.at("rate") == "0.5");
}

}  // namespace troupe::test
