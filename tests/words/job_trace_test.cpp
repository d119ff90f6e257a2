#include "words/job_trace.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace troupe::test {

namespace {

constexpr int64_t ms = 1'000'000;

/// A replica that makes steps 4 to 6 between 10 and 40 ms, and an infeed that reads ahead of it.
std::vector<recorded_lane> two_lanes() {
  const auto waits = [](int64_t from, int64_t to, int64_t step, wait_cause cause) {
    return activity_span{from * ms, to * ms, step, false, 0, cause};
  };
  const auto works = [](int64_t from, int64_t to, int64_t step, uint16_t message) {
    return activity_span{from * ms, to * ms, step, true, message};
  };
  return {{"infeed/0",
           {{"pull", "run"},
            {works(0, 15, 6, 0), waits(15, 20, 7, wait_cause::room), works(20, 22, 7, 1),
             waits(22, 60, 8, wait_cause::horizon)},
            0}},
          {"replica/0",
           {{"block"},
            {works(5, 10, 3, 0), waits(10, 12, 4, wait_cause::input), works(12, 20, 4, 0), works(20, 30, 5, 0),
             waits(30, 31, 6, wait_cause::peers), works(31, 40, 6, 0), works(40, 50, 7, 0)},
            2}},
          {"checkpoint_writer", {{}, {}, -1}}};
}

}  // namespace

TEST_CASE("a trace is the time in which replicas make its steps, and spans that go beyond are cut") {
  const auto t = trace_of(4, 7, two_lanes());
  CHECK(t.first == 4);
  CHECK(t.end == 7);
  CHECK(t.seconds == doctest::Approx(0.030));
  REQUIRE(t.lanes.size() == 3);
  const auto& infeed = t.lanes[0];
  CHECK(infeed.actor == "infeed/0");
  REQUIRE(infeed.spans.size() == 4);
  CHECK(infeed.spans[0] == trace_span{0, 0.005, true, "pull", 6});
  CHECK(infeed.spans[1].what == "room");
  CHECK_FALSE(infeed.spans[1].works);
  CHECK(infeed.spans[2].what == "run");
  CHECK(infeed.spans[3].seconds == doctest::Approx(0.018));
  for (const auto& lane : {t.lanes[0], t.lanes[1]})
    CHECK(lane.busy_seconds() + lane.waiting_seconds() == doctest::Approx(t.seconds));
  CHECK(t.lanes[1].busy_seconds() == doctest::Approx(0.027));
  CHECK(t.lanes[2].left_out == -1);
}

TEST_CASE("a trace of steps that were not recorded is empty, and not one of others") {
  const auto t = trace_of(40, 50, two_lanes());
  CHECK(t.seconds == 0);
  for (const auto& lane : t.lanes)
    CHECK(lane.spans.empty());
}

TEST_CASE("where replicas take no time, a trace is all that was recorded") {
  auto lanes = two_lanes();
  lanes[1].recorded = {};
  CHECK(trace_of(4, 7, lanes).seconds == doctest::Approx(0.060));
  CHECK(trace_of(0, 1, {}).seconds == 0);
}

TEST_CASE("the text of a trace has a lane for each actor, and spans within those of their steps") {
  const auto t = trace_of(4, 7, two_lanes());
  const auto text = nlohmann::json::parse(to_chrome_trace(t));
  std::map<int64_t, std::string> lanes;
  std::map<int64_t, std::vector<std::pair<double, double>>> steps, spans;
  for (const auto& e : text.at("traceEvents")) {
    const auto lane = e.at("tid").get<int64_t>();
    if (e.at("ph") == "M" && e.at("name") == "thread_name")
      lanes[lane] = e.at("args").at("name");
    if (e.at("ph") != "X")
      continue;
    const auto begin = e.at("ts").get<double>();
    (e.at("cat") == "step" ? steps : spans)[lane].emplace_back(begin, begin + e.at("dur").get<double>());
  }
  CHECK((lanes
         == std::map<int64_t, std::string>{
             {1, "infeed/0"}, {2, "replica/0 (2 spans left out)"}, {3, "checkpoint_writer (does not answer)"}}));
  CHECK(steps[1].size() == 3);
  CHECK(steps[2].size() == 3);
  for (const int64_t lane : {1, 2}) {
    double sum = 0;
    for (const auto& [begin, end] : spans[lane]) {
      sum += end - begin;
      CHECK(std::any_of(steps[lane].begin(), steps[lane].end(),
                        [&](const auto& s) { return s.first <= begin + 1e-6 && end <= s.second + 1e-6; }));
    }
    CHECK(sum == doctest::Approx(t.seconds * 1e6));
  }
  CHECK(text.at("otherData").at("first_step") == 4);
}

TEST_CASE("a drawing has a line for each actor with what takes most of each part of the time") {
  const auto text = to_text(trace_of(4, 7, two_lanes()), 15);
  CHECK(text
        == "steps 4 to 6, 30.000 ms\n"
           "infeed/0          |###rr#         |\n"
           "replica/0         |i#########p####|\n"
           "checkpoint_writer | does not answer|\n"
           "# works, waits for: i input, p peers, r room, a arena, blank: a grant\n");
  CHECK(to_text(job_trace{}, 0).starts_with("steps 0 to -1, 0.000 ms\n"));
}

}  // namespace troupe::test
