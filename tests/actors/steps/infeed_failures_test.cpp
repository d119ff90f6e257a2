// Inputs that cannot be read, opened or saved, that are slow or are cancelled.
#include "support/infeed_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(infeed_alone, "what cannot be read ends the data at its step, with its cause") {
  source->trouble[5] = {errc::data_loss, "record 5 has a wrong checksum"};
  start_at(0);
  grant(10);
  credit(10, 4);
  CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 1}});
  REQUIRE(sink.count<end_of_data>() == 1);
  const auto& end = sink.last<end_of_data>();
  CHECK(end.first_missing_step == 5);
  CHECK(end.cause == error{errc::data_loss, "record 5 has a wrong checksum", {}, "infeed/0", 5});
  CHECK(sink.order().back() == caf::type_id<end_of_data>::value);
  REQUIRE_MESSAGE(chief.count<input_failed>() == 1, "the chief hears of it too, whatever the readers are waiting for");
  CHECK(chief.last<input_failed>().step == 5);
  CHECK(chief.last<input_failed>().cause == end.cause);
}

TEST_CASE_FIXTURE(infeed_alone, "data that end are no failure") {
  source->batches = 2;
  start_at(0);
  grant(10);
  credit(10, 4);
  CHECK(sink.count<end_of_data>() == 1);
  CHECK(chief.count<input_failed>() == 0);
}

TEST_CASE_FIXTURE(infeed_alone, "what has been read in 20 ms is sent, however many batches are wanted") {
  source->before = [this](int64_t) { take_time(std::chrono::milliseconds{6}); };
  start_at(0);
  grant(10);
  credit(100, 64);
  CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 4}, {8, 2}});
  SUBCASE("a batch that takes longer travels alone") {
    source->before = [this](int64_t) { take_time(std::chrono::milliseconds{300}); };
    grant(12);
    CHECK(blocks().size() == 5);
    CHECK(blocks().back() == std::pair<int64_t, int64_t>{11, 1});
  }
}

TEST_CASE_FIXTURE(infeed_alone,
                  "an infeed that is cancelled reads no further batch of its block, and sends those it has") {
  source->before = [this](int64_t batch) {
    if (batch == 2)
      options.stop->request_stop();
  };
  start_at(0);
  grant(10);
  credit(100, 64);
  CHECK(source->reads == steps{0, 1, 2});
  CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}});
  REQUIRE(sink.count<end_of_data>() == 1);
  CHECK(sink.last<end_of_data>().cause.category == errc::cancelled);
  SUBCASE("and can still say where the data stood") {
    tell(feed, rewind{1, 3});
    REQUIRE(parts() == steps{3});
    CHECK(next_after(writer.last<snapshot_part>()) == 3);
  }
}

TEST_CASE_FIXTURE(infeed_alone, "an infeed that is halted reads no further and says that no part of it comes") {
  start_at(0);
  grant(10, {{4, s}});
  credit(2);
  tell(feed, halt{1});
  credit(10);
  CHECK(source->reads == steps{0, 1});
  CHECK(parts().empty());
  REQUIRE(writer.count<gone>() == 1);
  CHECK(writer.last<gone>().part == 3_node);
  CHECK(writer.last<gone>().attempt == 1);
}

TEST_CASE_FIXTURE(infeed_alone, "the part of a mark is with the writer before the readers can have made its step") {
  recorder<block, end_of_data, snapshot_part, gone> both = record<block, end_of_data, snapshot_part, gone>();
  feed = spawn(infeed, options, chief.as<input_listener_actor>());
  tell(feed, connect_parts{both.as<part_sink_actor>()});
  tell(feed, connect_reader{0_edge, both.as<block_sink_actor>()});
  tell(feed, begin{1, 0, {}});
  grant(4, {{4, s}});
  credit(10, 4);
  CHECK(both.order() == order_of<snapshot_part, block>());
}

TEST_CASE_FIXTURE(infeed_alone, "a dataset that cannot be opened ends before its first batch") {
  source->cannot_open = error{errc::not_found, "there is no /data/train"};
  start_at(3);
  REQUIRE(sink.count<end_of_data>() == 1);
  CHECK(sink.last<end_of_data>().first_missing_step == 3);
  CHECK(sink.last<end_of_data>().cause.category == errc::not_found);
  CHECK(sink.last<end_of_data>().cause.source == "infeed/0");
  grant(10, {{3, s}});
  credit(10);
  tell(feed, rewind{1, 3});
  CHECK(parts().empty());
  CHECK(sink.count<end_of_data>() == 1);
}

TEST_CASE_FIXTURE(infeed_alone, "a pipeline that cannot be saved is an error where a checkpoint is asked of it") {
  source->cannot_save = error{errc::unimplemented, "the position of my_map cannot be saved"};
  start_at(0);
  SUBCASE("and none where it is not") {
    grant(4);
    credit(10, 4);
    CHECK(sink.count<block>() == 1);
    CHECK(sink.count<end_of_data>() == 0);
  }
  SUBCASE("it names the transformation, and comes after all that precedes the mark") {
    grant(8, {{3, s}});
    credit(10, 8);
    CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}});
    REQUIRE(sink.order() == order_of<block, end_of_data>());
    CHECK(sink.last<end_of_data>().first_missing_step == 3);
    CHECK(sink.last<end_of_data>().cause
          == error{errc::unimplemented, "the position of my_map cannot be saved", {}, "infeed/0", 3});
    CHECK(parts().empty());
    REQUIRE(chief.count<input_failed>() == 1);
    CHECK(chief.last<input_failed>().step == 3);
  }
  SUBCASE("where the data ended, too") {
    source->batches = 3;
    grant(8);
    credit(10, 8);
    tell(feed, rewind{1, 3});
    CHECK(parts().empty());
    REQUIRE(chief.count<input_failed>() == 1);
    CHECK(chief.last<input_failed>().cause.category == errc::unimplemented);
  }
  SUBCASE("where the data stand within a block, too, whose position was not saved") {
    grant(4);
    credit(10, 4);
    tell(feed, rewind{1, 2});
    CHECK(parts().empty());
    REQUIRE(chief.count<input_failed>() == 1);
    CHECK(chief.last<input_failed>().cause
          == error{errc::unimplemented, "the position of my_map cannot be saved", {}, "infeed/0", 2});
  }
}

}  // namespace troupe::test
