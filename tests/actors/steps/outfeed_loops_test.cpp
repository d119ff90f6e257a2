// Loops: what the outfeed says of the steps of each.
#include "support/outfeed_fixture.hpp"

namespace troupe::test {

namespace {

struct outfeed_of_loops : outfeed_alone {
  void start_at(int64_t step, loop_span loop, int32_t replicas = 1) {
    options.loops = true;
    for (int32_t r = 0; r < replicas; ++r)
      options.groups[0].replicas.push_back({node_id{r}, "replica/" + std::to_string(r)});
    drain = spawn(outfeed, options, chief.as<progress_sink_actor>());
    tell(drain, begin{1, step, {}, 1, loop});
  }
  std::vector<loop_point> loops() {
    std::vector<loop_point> all;
    for (const auto& p : chief.all<progress>())
      all.insert(all.end(), p.loops.begin(), p.loops.end());
    return all;
  }
};

std::vector<std::pair<int64_t, int64_t>> spans_of(const std::vector<loop_point>& loops) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const auto& l : loops)
    all.emplace_back(l.first, l.end);
  return all;
}

using pairs = std::vector<std::pair<int64_t, int64_t>>;

}  // namespace

TEST_CASE_FIXTURE(outfeed_of_loops, "a loop ends with its last step, however reports are cut, and the rest is open") {
  start_at(0, {0, 4});
  report(0, 0, {1, 2, 3});
  CHECK(loops().empty());
  CHECK(chief.last<progress>().open == loop_point{0, 0, 3, 3, 2, 3, 0});
  report(0, 3, {4, 5, 6, 7, 8, 9});
  CHECK(loops() == std::vector<loop_point>{{0, 0, 4, 4, 2.5, 4, 0}, {4, 4, 8, 8, 6.5, 8, 0}});
  CHECK(chief.last<progress>().open == loop_point{8, 8, 9, 9, 9, 9, 0});
}

TEST_CASE_FIXTURE(outfeed_of_loops,
                  "[DF-29] of the losses 4, 3, 2 of the first replica and 6, 5, 4 of another, a loop says last 3, mean "
                  "4, first replica 2") {
  start_at(0, {0, 3}, 2);
  report(0, 0, {4, 3, 2});
  report(1, 0, {6, 5, 4});
  REQUIRE(loops().size() == 1);
  CHECK(loops()[0].last == 3);
  CHECK(loops()[0].mean == 4);
  CHECK(loops()[0].first_replica == 2);
}

TEST_CASE_FIXTURE(outfeed_of_loops, "a loop that an attempt enters midway says from which step on it counts") {
  start_at(6, {0, 4});
  report(0, 6, {1, 3, 9});
  CHECK(loops() == std::vector<loop_point>{{4, 6, 8, 3, 2, 3, 0}});
}

TEST_CASE_FIXTURE(outfeed_of_loops, "another length holds from where the chief says") {
  start_at(0, {0, 2});
  tell(drain, set_loop{1, {4, 3}});
  tell(drain, set_loop{2, {1, 1}});  // Of another attempt.
  report(0, 0, std::vector<double>(11, 1));
  CHECK(spans_of(loops()) == pairs{{0, 2}, {2, 4}, {4, 7}, {7, 10}});
}

TEST_CASE_FIXTURE(outfeed_of_loops, "a loop takes the time between the reports, divided evenly among their steps") {
  start_at(0, {0, 3});
  advance_time(std::chrono::seconds{2});
  report(0, 0, {1, 1});
  advance_time(std::chrono::seconds{8});
  report(0, 2, {1, 1, 1, 1});
  REQUIRE(loops().size() == 2);
  CHECK(loops()[0].seconds == doctest::Approx(4));
  CHECK(loops()[1].seconds == doctest::Approx(6));
}

TEST_CASE_FIXTURE(outfeed_of_loops, "steps that wait for room for their records keep their time") {
  options.records_ahead = 1;
  start_at(0, {0, 2});
  tell(drain, connect_records{writer.as<record_sink_actor>()});
  advance_time(std::chrono::seconds{8});
  tell(drain, step_report{1, 0_node, 0, {1, 1, 1, 1}, {}, {{1, {}}, {3, {}}}, 0});
  CHECK(chief.last<progress>().step == 2);
  advance_time(std::chrono::seconds{4});
  tell(drain, record_credit{1, 10});
  CHECK(chief.last<progress>().step == 4);
  REQUIRE(loops().size() == 2);
  CHECK(loops()[0].seconds == doctest::Approx(4));
  CHECK(loops()[1].seconds == doctest::Approx(8));
}

TEST_CASE_FIXTURE(outfeed_of_loops, "the time for which a job stood still is of no loop") {
  start_at(0, {0, 2});
  advance_time(std::chrono::seconds{1});
  report(0, 0, {1});
  advance_time(std::chrono::seconds{1000});
  tell(drain, troupe::run{1, 4, {}});
  tell(drain, troupe::run{2, 4, {}});  // Of another attempt.
  advance_time(std::chrono::seconds{2});
  report(0, 1, {1});
  REQUIRE(loops().size() == 1);
  CHECK(loops()[0].seconds == doctest::Approx(3));
}

TEST_CASE_FIXTURE(outfeed_of_loops, "a new attempt forgets the steps of the one before") {
  start_at(0, {0, 4});
  report(0, 0, {100, 100});
  tell(drain, begin{2, 0, {}, 1, {0, 4}});
  tell(drain, step_report{2, node_id{0}, 0, {1, 1, 1, 1}});
  REQUIRE(loops().size() == 1);
  CHECK(loops()[0].mean == 1);
}

}  // namespace troupe::test
