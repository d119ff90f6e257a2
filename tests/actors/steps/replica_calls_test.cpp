// What a replica gives to host calls, and when it waits for room.
#include "support/replica_fixture.hpp"

namespace troupe::test {

namespace {

struct calling_replica : replica_alone {
  recorder<block, end_of_data> outfeed = record<block, end_of_data>();

  void start_calling(int64_t every = 1) {
    engine->asked = {{"seen", {"loss"}, every, {}}};
    options.calls = 9_edge;
    options.reports_when_waiting = true;
    start();
    tell(worker, connect_reader{9_edge, outfeed.as<block_sink_actor>()});
  }
  void room(int64_t until) { tell(worker, pull{1, 9_edge, until, 0, 1}); }
  steps given() {
    steps all;
    for (const auto& b : outfeed.all<block>())
      all.push_back(b.step);
    return all;
  }
};

}  // namespace

TEST_CASE_FIXTURE(calling_replica, "an entry goes to the outfeed for each step, and a step waits until it has room") {
  start_calling();
  grant(20);
  feed(0, 10);
  CHECK_MESSAGE(engine->computed.empty(), "there is no room yet");
  room(1);
  CHECK(given() == steps{0});
  CHECK_MESSAGE(out.last<step_report>().losses.size() == 1, "the outfeed needs the report to make room");
  room(4);
  CHECK(given() == steps{0, 1, 2, 3});
  const auto& entry = outfeed.all<block>()[2];
  CHECK(entry.attempt == 1);
  CHECK(entry.edge == 9_edge);
  CHECK(entry.count == 1);
  REQUIRE(entry.components.size() == 1);
  CHECK(entry.components[0].as<float>()[0] == static_cast<float>(out.all<step_report>()[1].losses[1]));
}

TEST_CASE_FIXTURE(calling_replica, "steps in which no call is due need no room, and entries count those that are") {
  start_calling(3);
  tell(worker, begin{2, 4, {}, 1, {4, 4}});
  tell(worker, troupe::run{2, 20, {}});
  tell(worker, toy_block(4, 10, 0, 2, 2));
  tell(worker, pull{2, 9_edge, 1, 0, 1});
  CHECK_MESSAGE((engine->applied == steps{4, 5, 6}), "step 7 is the second call of a loop of 4 that begins at 4");
  tell(worker, pull{2, 9_edge, 4, 0, 1});
  CHECK(given() == steps{4, 7, 8, 11});
  CHECK(engine->applied.back() == 11);
}

TEST_CASE_FIXTURE(calling_replica, "a step that is not applied gives nothing") {
  start_calling();
  engine->before_step = [](int64_t step) { return step == 2 ? step_status::not_finite : step_status::ok; };
  grant(20);
  room(20);
  feed(0, 5);
  CHECK(given() == steps{0, 1});
  CHECK(out.count<stream_end>() == 1);
}

TEST_CASE_FIXTURE(calling_replica, "an entry comes before the report of its step") {
  auto both = record<block, end_of_data, step_report, stream_end>();
  start_calling();
  tell(worker, connect_reader{9_edge, both.as<block_sink_actor>()});
  tell(worker, connect_reports{both.as<report_sink_actor>()});
  grant(20);
  room(1);
  feed(0, 1);
  CHECK(both.order() == order_of<block, step_report>());
}

TEST_CASE_FIXTURE(calling_replica, "without an outfeed steps go on, and compute nothing for calls") {
  start_calling();
  grant(20);
  room(2);
  feed(0, 10);
  CHECK(engine->applied == steps{0, 1});
  tell(worker, leave{1, 9_edge, 2});
  CHECK(engine->applied == first_steps(10));
  CHECK(given() == steps{0, 1});
}

TEST_CASE_FIXTURE(calling_replica, "a retired replica gives nothing to calls") {
  start_calling();
  tell(worker, retire{1, 2, {}});
  grant(20);
  room(20);
  feed(0, 5);
  CHECK(given() == steps{0, 1});
  CHECK(engine->forward == steps{2, 3, 4});
}

TEST_CASE_FIXTURE(calling_replica, "the end of the data and a stop need no room") {
  start_calling();
  grant(20);
  end_data(0);
  CHECK_MESSAGE(out.count<stream_end>() == 0, "the replica does not know yet whether there is room");
  room(1);
  CHECK(out.count<stream_end>() == 1);
}

}  // namespace troupe::test
