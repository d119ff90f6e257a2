// When the outfeed makes host calls, with what, and how much room it gives.
#include "support/has.hpp"
#include "support/outfeed_fixture.hpp"

namespace troupe::test {

namespace {

struct calling_outfeed : outfeed_alone {
  recorder<pull> replicas[2] = {simulation::record<pull>(), simulation::record<pull>()};
  std::vector<std::pair<int64_t, tensor>> made;
  int64_t throws_at = 0;

  void start_calling(int32_t count = 1, int64_t every = 1) {
    options.groups[0].calls = {{"seen", {"x"}, every, [this](host_call_step& step) {
                                  if (step.step() == throws_at)
                                    throw std::runtime_error("no");
                                  made.emplace_back(step.step(), step["x"]);
                                  step.scalar("x", 1);
                                }}};
    for (int32_t r = 0; r < count; ++r)
      options.groups[0].replicas.push_back({node_id{r}, "replica/" + std::to_string(r), edge_id{r}});
    drain = spawn(outfeed, options, chief.as<progress_sink_actor>());
    for (int32_t r = 0; r < count; ++r)
      tell(drain, connect_source{edge_id{r}, replicas[r].as<credit_source_actor>()});
    tell(drain, begin{1, 0, {}});
  }
  void entry(int32_t replica, int64_t step, const tensor& x) {
    tell(drain, block{1, edge_id{replica}, step, 1, 0, 2, {x}});
  }
  void entry(int32_t replica, int64_t step, float value = 0) { entry(replica, step, tensor::of<float>({1}, {value})); }
  int64_t room(int32_t replica = 0) { return replicas[replica].last<pull>().until_step; }
};

}  // namespace

TEST_CASE_FIXTURE(calling_outfeed, "calls are made when all replicas have reported a step, in the order of replicas") {
  start_calling(2);
  entry(1, 0, 10);
  report(1, 0, {1});
  CHECK(made.empty());
  entry(0, 0, 1);
  CHECK_MESSAGE(made.empty(), "nobody has said that the step was applied");
  report(0, 0, {1});
  REQUIRE(made.size() == 1);
  CHECK(made[0].first == 1);
  CHECK(made[0].second == tensor::of<float>({2}, {1, 10}));
  CHECK(chief.last<progress>().step == 1);
}

TEST_CASE_FIXTURE(calling_outfeed, "there is room for one entry, and for more once their size is known") {
  start_calling();
  CHECK(room() == 1);
  entry(0, 0);
  CHECK(room() == 64);
  report(0, 0, {1});
  CHECK(room() == 65);
}

TEST_CASE_FIXTURE(calling_outfeed, "entries together have at most 32 MiB, and one has room whatever its size") {
  start_calling(2);
  entry(0, 0, tensor::zeros(dtype::uint8, {10 << 20}));
  CHECK(room(0) == 3);
  entry(1, 0, tensor::zeros(dtype::uint8, {40 << 20}));
  CHECK(room(1) == 1);
  report(0, 0, {1});
  report(1, 0, {1});
  CHECK(room(0) == 4);
  CHECK(room(1) == 2);
}

TEST_CASE_FIXTURE(calling_outfeed,
                  "a step is held back while the summary writer has no room, as its calls may record") {
  options.records_ahead = 2;
  start_calling();
  tell(drain, connect_records{writer.as<record_sink_actor>()});
  for (int64_t s = 0; s < 4; ++s) {
    entry(0, s);
    report(0, s, {1});
  }
  CHECK(made.size() == 2);
  CHECK(chief.last<progress>().step == 2);
  CHECK(writer.count<troupe::record>() == 2);
  tell(drain, record_credit{1, 3, {}});
  CHECK(made.size() == 3);
  CHECK(chief.last<progress>().step == 3);
}

TEST_CASE_FIXTURE(calling_outfeed, "what comes before a call that throws is told, and then the outfeed ends") {
  throws_at = 3;
  start_calling();
  for (int64_t s = 0; s < 4; ++s)
    entry(0, s);
  report(0, 0, {1, 1, 1, 1});
  CHECK(made.size() == 2);
  REQUIRE(chief.count<progress>() == 1);
  CHECK(chief.last<progress>().step == 2);
}

TEST_CASE_FIXTURE(calling_outfeed,
                  "an attempt begins with room for its own entries, and makes no call of another one") {
  start_calling();
  for (int64_t s = 0; s < 3; ++s)
    entry(0, s, 7);
  tell(drain, begin{2, 1, {}});
  CHECK(replicas[0].last<pull>().attempt == 2);
  CHECK(room() == 1);
  entry(0, 1, 7);  // Of the first attempt.
  tell(drain, block{2, edge_id{0}, 1, 1, 0, 2, {tensor::of<float>({1}, {5})}});
  tell(drain, step_report{2, node_id{0}, 1, {1}});
  REQUIRE(made.size() == 1);
  CHECK(made[0].second == tensor::of<float>({1}, {5}));
}

TEST_CASE_FIXTURE(calling_outfeed, "a group that has left is given no room, and its entries are dropped") {
  start_calling();
  entry(0, 0);
  const auto before = replicas[0].count<pull>();
  tell(drain, departed{1, 0, {named_node{node_id{0}}}, {}});
  entry(0, 1);
  CHECK(replicas[0].count<pull>() == before);
  CHECK(made.empty());
}

}  // namespace troupe::test
