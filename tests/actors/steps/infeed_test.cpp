#include "support/infeed_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(infeed_alone,
                  "[DF-47] grants to 3 and 5 and a stop are five reads and an end; a stop before work is no read") {
  start_at(0);
  credit(100, 100);
  SUBCASE("after five") {
    grant(3);
    CHECK(source->reads == steps{0, 1, 2});
    grant(5);
    tell(feed, stop{1});
    CHECK(source->reads == steps{0, 1, 2, 3, 4});
    CHECK(sink.last<end_of_data>().first_missing_step == 5);
  }
  SUBCASE("before work") {
    tell(feed, stop{1});
    CHECK(source->reads.empty());
    CHECK(sink.last<end_of_data>().first_missing_step == 0);
  }
  CHECK(sink.last<end_of_data>().kind == end_kind::stopped);
  grant(10);
  CHECK(source->reads.size() <= 5);
}

TEST_CASE_FIXTURE(infeed_alone, "infeed never runs ahead of its credit") {
  start_at(0);
  grant(10);
  CHECK(source->reads.empty());
  credit(2);
  CHECK(source->reads == steps{0, 1});
  SUBCASE("a repeated pull, or one for less, changes nothing") {
    credit(2);
    credit(1);
    CHECK(source->reads == steps{0, 1});
  }
  SUBCASE("nor does a repeated grant") {
    grant(10);
    grant(4);
    CHECK(source->reads == steps{0, 1});
  }
  SUBCASE("more of it buys what follows, once") {
    credit(4);
    CHECK(source->reads == steps{0, 1, 2, 3});
    CHECK(sink.count<block>() == 4);
  }
}

TEST_CASE_FIXTURE(infeed_alone, "infeed never reads past the horizon") {
  start_at(0);
  credit(10, 4);
  CHECK(source->reads.empty());
  grant(3);
  CHECK(source->reads == steps{0, 1, 2});
  grant(5);
  CHECK(source->reads == steps{0, 1, 2, 3, 4});
}

TEST_CASE_FIXTURE(infeed_alone, "a block holds its rows batch after batch, each component for itself") {
  start_at(0);
  grant(10);
  credit(3, 3);
  REQUIRE(sink.count<block>() == 1);
  const auto& b = sink.last<block>();
  CHECK(b.rows == 2);
  CHECK(b.first_row == 0);
  REQUIRE(b.components.size() == 2);
  CHECK(b.components[0] == tensor::of<float>({6}, {0, 1, 100, 101, 200, 201}));
  CHECK(b.components[1] == tensor::of<int32_t>({6, 2}, {0, 0, 0, 1, 1, 0, 1, 1, 2, 0, 2, 1}));
}

TEST_CASE_FIXTURE(infeed_alone, "a block holds no more batches than its reader wants, or than fit into its bytes") {
  start();
  SUBCASE("wanted") {
    tell(feed, begin{1, 0, {}});
    grant(10);
    credit(9, 3);
    CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 3}, {6, 3}});
  }
  SUBCASE("bytes: a batch here has 24") {
    options.block_bytes_max = 60;
    start_at(0);
    grant(10);
    credit(6, 8);
    CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 2}, {2, 2}, {4, 2}});
  }
  SUBCASE("one batch travels however large it is") {
    options.block_bytes_max = 1;
    start_at(0);
    grant(10);
    credit(2, 8);
    CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 1}});
  }
}

TEST_CASE_FIXTURE(infeed_alone, "the end is announced once, after the last batch") {
  source->batches = 3;
  start_at(0);
  grant(10);
  credit(3);
  CHECK(sink.count<end_of_data>() == 0);
  credit(10, 4);
  grant(20);
  credit(20, 4);
  REQUIRE(sink.count<end_of_data>() == 1);
  CHECK(sink.last<end_of_data>().first_missing_step == 3);
  CHECK(sink.last<end_of_data>().cause.category == errc::out_of_range);
  CHECK(source->reads == steps{0, 1, 2});
}

TEST_CASE_FIXTURE(infeed_alone, "what was read before the end is sent before it") {
  source->batches = 3;
  start_at(0);
  grant(10);
  credit(10, 8);
  CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}});
  CHECK(sink.order() == order_of<block, end_of_data>());
}

TEST_CASE_FIXTURE(infeed_alone, "a partial last batch travels alone") {
  source->batches = 4;
  source->last_rows = 1;
  start_at(0);
  grant(10);
  credit(10, 8);
  CHECK(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 1}});
  CHECK(sink.last<block>().rows == 1);
  CHECK(sink.last<block>().components[0] == tensor::of<float>({1}, {300}));
  CHECK(sink.last<block>().components[1] == tensor::of<int32_t>({1, 2}, {3, 0}));
  CHECK(sink.last<end_of_data>().first_missing_step == 4);
}

TEST_CASE_FIXTURE(infeed_alone, "messages of another attempt are dropped") {
  start();
  tell(feed, begin{2, 5, "batch 5"});
  tell(feed, begin{1, 0, {}});
  tell(feed, begin{2, 0, {}});
  grant(10, {{5, s}});
  credit(10);
  tell(feed, rewind{1, 5});
  CHECK(source->reads.empty());
  CHECK(parts().empty());
  CHECK(source->opened == 1);
  SUBCASE("those of this one are obeyed") {
    tell(feed, troupe::run{2, 7, {}});
    tell(feed, pull{2, 0_edge, 7, 5, 2});
    CHECK(source->reads == steps{5, 6});
    CHECK(sink.last<block>().attempt == 2);
  }
  SUBCASE("the next one starts where it says, with nothing of this one left") {
    tell(feed, troupe::run{2, 7, {{7, s}}});
    tell(feed, pull{2, 0_edge, 6, 5, 1});
    tell(feed, begin{3, 1, "batch 1"});
    source->reads.clear();
    tell(feed, troupe::run{3, 3, {}});
    CHECK(source->reads.empty());
    tell(feed, pull{3, 0_edge, 9, 1, 1});
    CHECK(source->reads == steps{1, 2});
    CHECK(parts().empty());
  }
}

TEST_CASE_FIXTURE(infeed_alone, "credit that comes before its attempt begins is kept") {
  start();
  credit(2);
  tell(feed, begin{1, 0, {}});
  grant(10);
  CHECK(source->reads == steps{0, 1});
  tell(feed, pull{2, 0_edge, 9, 0, 1});
  CHECK(source->reads == steps{0, 1});
  tell(feed, begin{2, 0, {}});
  tell(feed, troupe::run{2, 3, {}});
  CHECK(source->reads == steps{0, 1, 0, 1, 2});
}

TEST_CASE_FIXTURE(infeed_alone,
                  "an attempt that is begun when readers are in a newer one already is over: nothing is read in it") {
  start();
  credit(2);
  tell(feed, pull{2, 0_edge, 9, 0, 1});
  tell(feed, begin{1, 0, {}});
  grant(10);
  CHECK(source->reads.empty());
  tell(feed, begin{2, 0, {}});
  tell(feed, troupe::run{2, 3, {}});
  CHECK(source->reads == steps{0, 1, 2});
}

TEST_CASE_FIXTURE(infeed_alone, "a reader that is named after its credit has come is sent what it has room for") {
  feed = spawn(infeed, options, chief.as<input_listener_actor>());
  tell(feed, begin{1, 0, {}});
  grant(5);
  credit(2);
  CHECK(sink.count<block>() == 0);
  tell(feed, connect_reader{0_edge, sink.as<block_sink_actor>()});
  CHECK((blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 1}}));
}

TEST_CASE_FIXTURE(infeed_alone, "a mark's snapshot part holds the position before its batch") {
  start_at(0);
  SUBCASE("reached within what would have been one block") {
    grant(10, {{3, s}, {5, mark_watch}, {7, s}});
    credit(10, 10);
    CHECK(parts() == steps{3, 7});
    CHECK(next_after(writer.all<snapshot_part>()[0]) == 3);
    CHECK(next_after(writer.all<snapshot_part>()[1]) == 7);
  }
  SUBCASE("at the start, before anything is read") {
    grant(0, {{0, s}});
    REQUIRE(parts() == steps{0});
    CHECK(writer.last<snapshot_part>().part == 3_node);
    CHECK(writer.last<snapshot_part>().attempt == 1);
    CHECK(next_after(writer.last<snapshot_part>()) == 0);
  }
  SUBCASE("a save named late still has its exact input position: the infeed already stands there") {
    grant(4);
    credit(20, 4);
    CHECK(source->reads.size() == 4);
    grant(4, {{4, s}});
    REQUIRE(parts() == steps{4});
    CHECK(next_after(writer.last<snapshot_part>()) == 4);
    grant(4, {{4, s}});
    CHECK(parts() == steps{4});
    SUBCASE("for another writer it is sent again") {
      auto second = record<snapshot_part>();
      tell(feed, connect_parts{second.as<part_sink_actor>()});
      grant(4, {{4, s}});
      CHECK(second.count<snapshot_part>() == 1);
      CHECK(parts() == steps{4});
    }
  }
}

TEST_CASE_FIXTURE(infeed_alone, "room for a part of a block is left until there is room for all of it") {
  using spans = std::vector<std::pair<int64_t, int64_t>>;
  start_at(0);
  grant(20, {{16, s}});
  credit(4, 3);
  CHECK(blocks() == spans{{0, 3}});
  credit(5, 3);
  CHECK(blocks() == spans{{0, 3}});
  SUBCASE("of which there is more") {
    credit(9, 3);
    CHECK(blocks() == spans{{0, 3}, {3, 3}, {6, 3}});
    credit(18, 4);
    CHECK_MESSAGE(blocks().back() == spans::value_type(13, 3), "a block ends at a snapshot");
    credit(19, 8);
    CHECK(blocks().back() == spans::value_type(13, 3));
    credit(40, 8);
    CHECK_MESSAGE(blocks().back() == spans::value_type(16, 4), "or at the horizon");
  }
  SUBCASE("which is smaller now") {
    credit(5, 2);
    CHECK(blocks() == spans{{0, 3}, {3, 2}});
  }
}

TEST_CASE_FIXTURE(infeed_alone, "rewind rebuilds the position of an earlier step, and reads no further") {
  start_at(0);
  grant(10);
  credit(10, 4);
  REQUIRE(blocks() == std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 4}, {8, 2}});
  SUBCASE("within a block") {
    credit(10, 4, 5);
    tell(feed, rewind{1, 6});
    REQUIRE(parts() == steps{6});
    CHECK(next_after(writer.last<snapshot_part>()) == 6);
  }
  SUBCASE("at the start of one") {
    tell(feed, rewind{1, 4});
    CHECK(next_after(writer.last<snapshot_part>()) == 4);
  }
  SUBCASE("at the very beginning, of which no position was saved with a name") {
    tell(feed, rewind{1, 0});
    CHECK(next_after(writer.last<snapshot_part>()) == 0);
  }
  SUBCASE("where it stands") {
    tell(feed, rewind{1, 10});
    REQUIRE(parts() == steps{10});
    CHECK(next_after(writer.last<snapshot_part>()) == 10);
  }
  SUBCASE("a repeated one is harmless") {
    tell(feed, rewind{1, 7});
    tell(feed, rewind{1, 7});
    CHECK(parts() == steps{7});
  }
  SUBCASE("ahead of where it stands there is nothing to rebuild") {
    tell(feed, rewind{1, 11});
    CHECK(parts().empty());
    return;
  }
  grant(20);
  credit(20, 4);
  CHECK(sink.count<block>() == 3);
  CHECK(sink.count<end_of_data>() == 0);
}

TEST_CASE_FIXTURE(infeed_alone, "after the end of the data the position of an earlier step can still be rebuilt") {
  source->batches = 6;
  start_at(0);
  grant(10);
  credit(10, 4);
  REQUIRE(sink.count<end_of_data>() == 1);
  tell(feed, rewind{1, 5});
  REQUIRE(parts() == steps{5});
  CHECK(next_after(writer.last<snapshot_part>()) == 5);
}

TEST_CASE_FIXTURE(infeed_alone, "a batch is split evenly among two edges") {
  auto other = record<block, end_of_data>();
  source->rows = 4;
  options.edges = {{.id = 0_edge, .reader = 0, .readers = 2}, {.id = 7_edge, .reader = 1, .readers = 2}};
  start();
  tell(feed, connect_reader{7_edge, other.as<block_sink_actor>()});
  tell(feed, begin{1, 0, {}});
  grant(10);
  credit(4, 4);
  CHECK_MESSAGE(sink.count<block>() == 0, "both readers must have room");
  tell(feed, pull{1, 7_edge, 3, 0, 3});
  REQUIRE(sink.count<block>() == 1);
  REQUIRE(other.count<block>() == 1);
  const auto &first = sink.last<block>(), &second = other.last<block>();
  CHECK(first.count == 3);
  CHECK(first.rows == 2);
  CHECK(first.first_row == 0);
  CHECK(second.edge == 7_edge);
  CHECK(second.rows == 2);
  CHECK(second.first_row == 2);
  CHECK_MESSAGE(first.components[0].data() == second.components[0].data(), "nothing is copied");

  SUBCASE("the end goes to both") {
    source->batches = 3;
    credit(8, 4);
    tell(feed, pull{1, 7_edge, 8, 0, 4});
    CHECK(sink.last<end_of_data>().first_missing_step == 3);
    CHECK(other.last<end_of_data>().first_missing_step == 3);
    CHECK(other.last<end_of_data>().edge == 7_edge);
  }
}

TEST_CASE_FIXTURE(infeed_alone, "a batch that cannot be split is an error of its first step, told to both edges") {
  auto other = record<block, end_of_data>();
  source->rows = 3;
  options.edges = {{.id = 0_edge, .reader = 0, .readers = 1}, {.id = 1_edge, .reader = 1, .readers = 2}};
  start();
  tell(feed, connect_reader{1_edge, other.as<block_sink_actor>()});
  tell(feed, begin{1, 0, {}});
  grant(10);
  credit(4, 4);
  tell(feed, pull{1, 1_edge, 4, 0, 4});
  CHECK(sink.count<block>() == 0);
  CHECK(other.count<block>() == 0);
  for (auto* edge : {&sink, &other}) {
    REQUIRE(edge->count<end_of_data>() == 1);
    CHECK(edge->last<end_of_data>().first_missing_step == 0);
    CHECK(edge->last<end_of_data>().cause.category == errc::invalid_argument);
  }
  tell(feed, rewind{1, 0});
  REQUIRE(parts() == steps{0});
  CHECK_MESSAGE(next_after(writer.last<snapshot_part>()) == 0, "its rows are read again by whoever goes on");
}

TEST_CASE_FIXTURE(
    infeed_alone,
    "credit that comes while a block is read leads to no block of its own, so that answers to blocks do not pile up") {
  start_at(0);
  grant(1'000);
  for (int64_t i = 1; i <= 10; ++i)
    caf::anon_send(feed, pull{1, 0_edge, 100 * i, 0, 1});
  for (int turn = 0; turn < 10; ++turn) {
    REQUIRE(schedule.prioritize(feed));
    schedule.run_once();
  }
  while (schedule.prioritize(sink.handle()))
    schedule.run_once();
  CHECK(blocks().size() == 1);
  run();
  CHECK(blocks().size() == 1'000);
}

}  // namespace troupe::test
