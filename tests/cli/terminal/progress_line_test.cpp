#include "cli/terminal/progress_line.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::cli {

namespace {

job_progress training() {
  return {
      .now = job_progress::phase::training, .step = 1053, .max_steps = 2340, .loss = 0.43211, .steps_per_second = 25.4};
}
const job_scale scale{468, {{"", 20}}};
const std::string evaluation = "accuracy 0.8457 at 936";

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> found;
  for (size_t at = 0; at < line.size();) {
    // Skips the bar, which contains spaces.
    const size_t end = std::min(line.size(), line.find("  ", line[at] == '[' ? line.find(']') : at));
    found.push_back(line.substr(at, end - at));
    at = end + 2;
  }
  return found;
}

}  // namespace

TEST_CASE("a wide terminal is told all there is: bar, share, epoch, step, rate, loss, time and the last evaluation") {
  CHECK(progress_line(training(), scale, 41.5, evaluation, 200)
        == "[=========>          ]  45%  epoch 3/5  step 1053/2340  25 steps/s  loss 0.4321  after 0:42  0:51 left "
           " accuracy 0.8457 at 936");
}

TEST_CASE("as a window narrows whole fields go, the least needed first, and the line never fills it") {
  auto evaluating = training();
  evaluating.evaluating = {{"", 936, 12}};
  auto endless = training();
  endless.max_steps = std::nullopt;
  for (const auto& now : {training(), evaluating, endless, job_progress{}}) {
    auto wider = fields(progress_line(now, scale, 41.5, evaluation, 200));
    for (size_t width = 200; width-- > 0;) {
      CAPTURE(width);
      const auto line = progress_line(now, scale, 41.5, evaluation, width);
      CHECK((line.empty() || line.size() < width));
      const auto shown = fields(line);
      CHECK(std::includes(wider.begin(), wider.end(), shown.begin(), shown.end(), [&](const auto& a, const auto& b) {
        return std::find(wider.begin(), wider.end(), a) < std::find(wider.begin(), wider.end(), b);
      }));
      wider = shown;
    }
    CHECK(wider.empty());
  }
}

TEST_CASE("forty columns have room for the step, the loss and the time that is left") {
  CHECK(progress_line(training(), scale, 41.5, evaluation, 40) == "step 1053/2340  loss 0.4321  0:51 left");
  CHECK(progress_line(training(), scale, 41.5, evaluation, 80)
        == "45%  epoch 3/5  step 1053/2340  25 steps/s  loss 0.4321  0:51 left");
  CHECK(progress_line(training(), scale, 41.5, evaluation, 20) == "step 1053/2340");
  CHECK(progress_line(training(), scale, 41.5, evaluation, 10) == "");
}

TEST_CASE("an evaluation has its own progress, which is among the last to go, and so has the last save") {
  auto now = training();
  now.evaluating = {{"", 936, 12}};
  CHECK(progress_line(now, scale, 41.5, "", 40) == "step 1053/2340  evaluating 12/20");
  CHECK(progress_line(now, {}, 41.5, "", 41) == "step 1053/2340  evaluating 12  0:51 left");
  now.evaluating = {{"train", 936, 12}};
  CHECK(progress_line(now, scale, 41.5, "", 40) == "step 1053/2340  evaluating train 12");
  now.evaluating.clear();
  now.now = job_progress::phase::draining;
  now.step = 2340;
  CHECK(progress_line(now, scale, 92, "", 40) == "step 2340/2340  saving  0:00 left");
  CHECK(progress_line(now, scale, 92, "", 200).starts_with("[====================]  100%  epoch 5/5  "));
}

TEST_CASE("the line omits values that are not known: the end, the rate, the epochs") {
  CHECK(progress_line({.now = job_progress::phase::training, .step = 7, .loss = 2.5}, {}, 1, "", 80)
        == "step 7  loss 2.5  after 0:01");
  CHECK(progress_line({.now = job_progress::phase::training, .step = 7, .loss = 2.5}, {2, {}}, 1, "", 80)
        == "epoch 4  step 7  loss 2.5  after 0:01");
  CHECK(progress_line({}, {}, 3'725, "", 80) == "starting  after 1:02:05");
}

TEST_CASE("candidates of a search are lines of their own, in columns, with a star before the one that leads") {
  const std::vector<candidate_progress> two{{.spec = "t0_linear_grow_mean", .loss = 0.5, .average = 0.75},
                                            {.spec = "t0_1_layer_dnn_grow_mean", .loss = 0.25, .leads = true}};
  using lines = std::vector<std::string>;
  CHECK(candidate_lines({}, 80).empty());
  CHECK(candidate_lines(two, 80)
        == lines{"  t0_linear_grow_mean       loss 0.5       average 0.75", "* t0_1_layer_dnn_grow_mean  loss 0.25"});
  for (size_t width = 0; width < 100; ++width)
    for (const auto& line : candidate_lines(two, width))
      CHECK(line.size() < std::max<size_t>(width, 1));
  CHECK(candidate_lines(two, 46)[0] == "  t0_linear_g...  loss 0.5       average 0.75");
}

TEST_CASE("of many candidates those with the least average are shown, and the others are counted") {
  std::vector<candidate_progress> many;
  for (int i = 0; i < 12; ++i)
    many.push_back({.spec = "t0_" + std::to_string(i), .loss = 1, .average = 12.0 - i});
  many[3].average.reset();
  const auto lines = candidate_lines(many, 80);
  REQUIRE(lines.size() == candidates_shown_max + 1);
  CHECK(lines.front().starts_with("  t0_11"));
  CHECK(lines.back() == "  and 4 more");
}

}  // namespace troupe::cli
