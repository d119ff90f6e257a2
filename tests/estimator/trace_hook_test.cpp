#include "small_start.hpp"
#include "tests/support/has.hpp"

#include <troupe/hooks.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace troupe::test {

namespace {

std::vector<std::string> timelines_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator{directory})
    if (const auto name = file.path().filename().string(); name.starts_with("timeline-"))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::shared_ptr<hook> traces(trace_steps_options options) {
  auto made = trace_steps(std::move(options));
  REQUIRE_MESSAGE(made, why(made));
  return *made;
}

std::string refusal_of(trace_steps_options options) {
  const auto made = trace_steps(std::move(options));
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::invalid_argument);
  return made.error().message;
}

}  // namespace

TEST_CASE("[EST-47] with every_steps 5 the first profile is of the step to state 6, and the first steps have none") {
  const temporary_directory here, elsewhere;
  const auto hook = traces({.directory = elsewhere.path, .every_steps = 5});
  REQUIRE(train(small_estimator(here.path), small_training(12, {hook})));
  CHECK((timelines_in(elsewhere.path) == std::vector<std::string>{"timeline-11.json", "timeline-6.json"}));
  const auto first = nlohmann::json::parse(std::ifstream{elsewhere.path + "/timeline-6.json"}).at("otherData");
  CHECK((first.at("first_step") == 5 && first.at("end_step") == 6));
  // A job that goes on counts from where it starts.
  REQUIRE(train(small_estimator(here.path), small_training(19, {hook})));
  CHECK((timelines_in(elsewhere.path)
         == std::vector<std::string>{"timeline-11.json", "timeline-18.json", "timeline-6.json"}));
}

TEST_CASE("a device that a trace is written to is not replaced by a file, and one that is full ends the job") {
  const temporary_directory here;
  const auto device = here.path + "/full";
  std::filesystem::create_symlink("/dev/full", device);
  const auto trained = train(small_estimator(here.path),
                             small_training(30, {traces({.file = device, .first = 10, .steps = 5})}));
  REQUIRE_FALSE(trained);
  CHECK(has(to_text(trained.error()), "No space left on device"));
  CHECK(std::filesystem::is_character_file(device));
}

TEST_CASE("a trace of a file has the steps that were asked for, in the format of Chrome") {
  const temporary_directory here;
  const auto file = here.path + "/new/trace.json";
  REQUIRE(train(small_estimator(here.path), small_training(30, {traces({.file = file, .first = 10, .steps = 5})})));
  const auto text = nlohmann::json::parse(std::ifstream{file});
  CHECK(text.at("otherData").at("first_step") == 10);
  CHECK(text.at("otherData").at("end_step") == 15);
  std::map<std::string, int64_t> lanes;
  std::map<int64_t, std::vector<std::string>> steps;
  for (const auto& e : text.at("traceEvents")) {
    if (e.at("name") == "thread_name")
      lanes[e.at("args").at("name")] = e.at("tid");
    if (e.value("cat", "") == "step")
      steps[e.at("tid")].push_back(e.at("name"));
  }
  for (const auto* actor : {"chief", "infeed/0", "replica/0", "outfeed", "checkpoint_writer", "callbacks"})
    CHECK_MESSAGE(lanes.contains(actor), actor);
  CHECK((steps[lanes["replica/0"]] == std::vector<std::string>{"step 10", "step 11", "step 12", "step 13", "step 14"}));
}

TEST_CASE("a file that cannot be written fails the job, naming it") {
  const temporary_directory here;
  const auto file = here.path + "/file";
  std::ofstream{file} << "in the way";
  const auto failed = train(small_estimator(here.path + "/run"),
                            small_training(30, {traces({.file = file + "/trace.json", .first = 3})}));
  REQUIRE_FALSE(failed);
  CHECK(has(to_text(failed.error()), "on_trace() of hooks[0]"));
  CHECK(has(to_text(failed.error()), file));
  std::vector<std::string> warned;
  const auto warns = traces(
      {.file = file + "/trace.json", .first = 3, .warn = [&](const std::string& text) { warned.push_back(text); }});
  CHECK(train(small_estimator(here.path + "/other"), small_training(30, {warns})));
  REQUIRE(warned.size() == 1);
  CHECK(has(warned[0], file));
  CHECK(has(warned[0], "the trace is not written"));
}

TEST_CASE("options of traces that do not go together are refused") {
  CHECK(has(refusal_of({}), "give a file"));
  CHECK(has(refusal_of({.file = "a", .directory = "b", .every_steps = 1}), "give a file"));
  CHECK(has(refusal_of({.directory = "b"}), "every_steps goes with a directory"));
  CHECK(has(refusal_of({.file = "a", .every_steps = 3}), "every_steps goes with a directory"));
  CHECK(has(refusal_of({.file = "a", .steps = 0}), "steps must be at least 1, not 0"));
  CHECK(has(refusal_of({.file = "a", .first = -1}), "first must be at least 0, not -1"));
  CHECK(has(refusal_of({.steps = 4, .directory = "b", .every_steps = 3}), "at least steps, 4, not 3"));
}

}  // namespace troupe::test
