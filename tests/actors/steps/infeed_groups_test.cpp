// An infeed with several readers, each of which gets a batch of its own or leaves with its group.
#include "support/infeed_fixture.hpp"

namespace troupe::test {

namespace {

struct infeed_of_two : infeed_alone {
  recorder<block, end_of_data> other = record<block, end_of_data>();

  void start_two() {
    start();
    tell(feed, connect_reader{7_edge, other.as<block_sink_actor>()});
    tell(feed, begin{1, 0, {}});
  }
  void credit_both(int64_t until, int64_t block_steps = 4) {
    tell(feed, pull{1, 0_edge, until, 0, block_steps});
    tell(feed, pull{1, 7_edge, until, 0, block_steps});
  }
};

struct infeed_of_four : infeed_alone {
  std::vector<recorder<block, end_of_data>> sinks;

  /// Starts an infeed whose reader r has the edge r, as `edges` says.
  void start_four() {
    feed = spawn(infeed, options, chief.as<input_listener_actor>());
    tell(feed, connect_parts{writer.as<part_sink_actor>()});
    for (const auto& e : options.edges)
      tell(feed, connect_reader{e.id, sinks.emplace_back(record<block, end_of_data>()).as<block_sink_actor>()});
    tell(feed, begin{1, 0, {}});
  }
  void credit_all(int64_t until) {
    for (const auto& e : options.edges)
      tell(feed, pull{1, e.id, until, 0, until});
  }
  /// The feature of all rows that reader r got for a step.
  std::vector<float> rows_of(size_t r, int64_t step) {
    const auto& b = sinks[r].last<block>();
    const auto& x = b.components[0];
    const int64_t rows = x.dims()[0] / b.count;
    const auto of_reader = x.slice((step - b.step) * rows + b.first_row, b.rows);
    return {of_reader.as<float>().begin(), of_reader.as<float>().end()};
  }
};

}  // namespace

TEST_CASE_FIXTURE(infeed_of_four, "[DF-16] of batches 0 to 7 each of four replicas gets one a step, in turn") {
  options.edges.clear();
  for (int32_t r = 0; r < 4; ++r)
    options.edges.push_back({.id = edge_id{r}, .reader = r, .readers = 4});
  options.batches_per_step = 4;
  start_four();
  grant(2);
  credit_all(2);
  CHECK(source->reads == steps{0, 1, 2, 3, 4, 5, 6, 7});
  for (size_t r = 0; r < 4; ++r) {
    const float first = 100 * static_cast<float>(r), second = 400 + first;
    CHECK(rows_of(r, 0) == std::vector<float>{first, first + 1});
    CHECK(rows_of(r, 1) == std::vector<float>{second, second + 1});
  }
}

TEST_CASE_FIXTURE(infeed_of_four,
                  "a partial batch ends the data of readers that get one each, and a step that was read in "
                  "part is read again, whichever batch of it that is") {
  options.edges.clear();
  for (int32_t r = 0; r < 4; ++r)
    options.edges.push_back({.id = edge_id{r}, .reader = r, .readers = 4});
  options.batches_per_step = 4;
  SUBCASE("the first") { source->rows_at = {{8, 1}}; }
  SUBCASE("a later one") { source->rows_at = {{10, 1}}; }
  start_four();
  grant(3);
  credit_all(3);
  REQUIRE(sinks[3].count<end_of_data>() == 1);
  CHECK(sinks[3].last<end_of_data>().first_missing_step == 2);
  tell(feed, rewind{1, 2});
  REQUIRE(parts() == steps{2});
  CHECK(next_after(writer.last<snapshot_part>()) == 8);
}

TEST_CASE_FIXTURE(infeed_of_four,
                  "[DF-19] four replicas that get whole batches get the same ones: the input is opened once and read "
                  "once a step") {
  options.edges.clear();
  for (int32_t r = 0; r < 4; ++r)
    options.edges.push_back({.id = edge_id{r}});
  start_four();
  grant(3);
  credit_all(3);
  CHECK(source->opened == 1);
  CHECK(source->reads == steps{0, 1, 2});
  for (size_t r = 0; r < 4; ++r)
    for (int64_t step = 0; step < 3; ++step) {
      const float x = 100 * static_cast<float>(step);
      CHECK(rows_of(r, step) == std::vector<float>{x, x + 1});
    }
}

namespace {

/// In an evaluation: batches of two rows are dealt to two readers.
struct dealing_infeed : infeed_of_two {
  void start_dealing() {
    options.edges = {{.id = 0_edge}, {.id = 7_edge}};
    options.deals = true;
    start_two();
  }
  /// The first number of each batch that came, by the reader's own numbers.
  static std::map<int64_t, float> got(recorder<block, end_of_data>& reader) {
    std::map<int64_t, float> all;
    for (const auto& b : reader.all<block>())
      for (int64_t i = 0; i < b.count; ++i)
        all[b.step + i] = b.components[0].slice(i * b.rows, 1).as<float>()[0];
    return all;
  }
  using batches = std::map<int64_t, float>;
};

}  // namespace

TEST_CASE_FIXTURE(dealing_infeed, "readers to which batches are dealt get whole ones, in blocks of their own") {
  start_dealing();
  grant(7);
  credit_both(8, 3);
  CHECK(source->reads == steps{0, 1, 2, 3, 4, 5, 6});
  CHECK(got(sink) == batches{{0, 0}, {1, 200}, {2, 400}, {3, 600}});
  CHECK(got(other) == batches{{0, 100}, {1, 300}, {2, 500}});
  CHECK_MESSAGE(sink.count<block>() == 2, "batch 0 while the other had no room, and then three batches in one block");
}

TEST_CASE_FIXTURE(dealing_infeed,
                  "a reader without room stops the infeed at its batch, and the other one gets no further") {
  start_dealing();
  grant(100);
  tell(feed, pull{1, 0_edge, 1, 0, 4});
  CHECK(source->reads == steps{0});
  tell(feed, pull{1, 7_edge, 5, 0, 4});
  CHECK_MESSAGE((source->reads == steps{0, 1}), "batch 2 is the first reader's second");
  tell(feed, pull{1, 0_edge, 3, 0, 4});
  CHECK(source->reads == steps{0, 1, 2, 3, 4, 5});
  CHECK(got(sink) == batches{{0, 0}, {1, 200}, {2, 400}});
  CHECK(got(other) == batches{{0, 100}, {1, 300}, {2, 500}});
}

TEST_CASE_FIXTURE(dealing_infeed, "the data may end anywhere, with a smaller batch: each reader is told its own end") {
  source->batches = 4;
  source->last_rows = 1;
  start_dealing();
  grant(100);
  credit_both(10, 4);
  CHECK(got(sink) == batches{{0, 0}, {1, 200}});
  CHECK(got(other) == batches{{0, 100}, {1, 300}});
  CHECK(other.last<block>().rows == 1);
  CHECK(sink.last<end_of_data>().first_missing_step == 2);
  CHECK(other.last<end_of_data>().first_missing_step == 2);
  CHECK(sink.last<end_of_data>().kind == end_kind::data);
}

TEST_CASE_FIXTURE(dealing_infeed, "of two infeeds each reads up to its own share of the batches that were granted") {
  options.share = {1, 2};  // Batches 1, 3, 5, ... of the data.
  start_dealing();
  grant(6);
  credit_both(10, 1);
  CHECK(source->reads == steps{0, 1, 2});
  grant(7);
  CHECK(source->reads.size() == 3);
  grant(8);
  CHECK(source->reads.size() == 4);
}

TEST_CASE_FIXTURE(dealing_infeed, "a block that a slow input cuts short still has each batch at its reader") {
  options.block_time_max = std::chrono::milliseconds{20};
  source->before = [this](int64_t batch) {
    if (batch == 4)
      take_time(std::chrono::milliseconds{30});
  };
  start_dealing();
  grant(10);
  credit_both(10, 5);
  CHECK(got(sink) == batches{{0, 0}, {1, 200}, {2, 400}, {3, 600}, {4, 800}});
  CHECK(got(other) == batches{{0, 100}, {1, 300}, {2, 500}, {3, 700}, {4, 900}});
}

TEST_CASE_FIXTURE(infeed_of_two,
                  "to each its own batch: a step is put together from one a reader, in the order of the edges") {
  options.edges = {{.id = 0_edge, .reader = 0, .readers = 2}, {.id = 7_edge, .reader = 1, .readers = 2}};
  options.batches_per_step = 2;
  start_two();
  grant(3);
  credit_both(3);
  CHECK(source->reads == steps{0, 1, 2, 3, 4, 5});
  const auto &a = sink.last<block>(), &b = other.last<block>();
  CHECK(a.count == 3);
  CHECK(a.rows == 2);
  CHECK(a.first_row == 0);
  CHECK(b.first_row == 2);
  const auto x = a.components[0].as<float>();
  CHECK(std::vector<float>{x.begin(), x.end()}
        == std::vector<float>{0, 1, 100, 101, 200, 201, 300, 301, 400, 401, 500, 501});
}

TEST_CASE_FIXTURE(
    infeed_of_two,
    "a step that cannot give each a whole batch is the end, and a snapshot there stands before what was read of it") {
  options.edges = {{.id = 0_edge, .reader = 0, .readers = 2}, {.id = 7_edge, .reader = 1, .readers = 2}};
  options.batches_per_step = 2;
  SUBCASE("an odd number of batches") { source->batches = 5; }
  SUBCASE("a partial batch") {
    source->batches = 6;
    source->last_rows = 1;
  }
  start_two();
  grant(9);
  credit_both(9);
  CHECK(other.last<end_of_data>().first_missing_step == 2);
  CHECK(sink.last<end_of_data>().cause.category == errc::out_of_range);
  tell(feed, rewind{1, 2});
  CHECK(next_after(writer.last<snapshot_part>()) == 4);
}

TEST_CASE_FIXTURE(infeed_of_two, "a stop ends the data where the infeed stands, for all its readers alike") {
  options.edges = {{.id = 0_edge}, {.id = 7_edge}};
  options.ends_steps = true;
  start_two();
  grant(20);
  credit_both(5, 1);
  tell(feed, stop{1});
  for (auto* r : {&sink, &other}) {
    REQUIRE(r->count<end_of_data>() == 1);
    CHECK(r->last<end_of_data>().first_missing_step == 5);
    CHECK(r->last<end_of_data>().kind == end_kind::stopped);
  }
  CHECK(chief.count<input_failed>() == 0);
  credit_both(9);
  CHECK(source->reads.size() == 5);
  tell(feed, rewind{1, 5});
  CHECK(next_after(writer.last<snapshot_part>()) == 5);
}

TEST_CASE_FIXTURE(infeed_of_two, "a read that a stop cancels is no failure, and one that anything else cancels is") {
  options.edges = {{.id = 0_edge}, {.id = 7_edge}};
  options.ends_steps = true;
  start_two();
  bool stopped = false;
  SUBCASE("a stop") { stopped = true; }
  SUBCASE("an abort") {}
  source->before = [&](int64_t batch) {
    if (batch == 3) {
      if (stopped)
        caf::anon_send(feed, stop{1});
      options.stop->request_stop();
      source->trouble[3] = {errc::cancelled, "reading was cancelled"};
    }
  };
  grant(20);
  credit_both(9);
  REQUIRE(sink.count<end_of_data>() == 1);
  CHECK(sink.last<end_of_data>().first_missing_step == 3);
  CHECK(sink.last<end_of_data>().kind == (stopped ? end_kind::stopped : end_kind::failed));
  CHECK(chief.count<input_failed>() == (stopped ? 0 : 1));
}

TEST_CASE_FIXTURE(infeed_of_two, "a reader that has left holds nobody up, and its credit does not either") {
  options.edges = {{.id = 0_edge}, {.id = 7_edge}};
  start_two();
  grant(20);
  credit(8, 4);
  CHECK(sink.count<block>() == 0);
  tell(feed, leave{1, 7_edge, 0});
  CHECK(blocks().back() == std::pair<int64_t, int64_t>{4, 4});
  CHECK(other.count<block>() == 0);
}

TEST_CASE_FIXTURE(infeed_alone,
                  "from where its group retires an infeed reads nothing, and serves the marks behind it") {
  options.own_of = "the builder 'b'";
  options.position = "infeed/0";
  source->batches = 3;
  start_at(0);
  grant(2, {{2, s}});
  credit(20, 4);
  CHECK(source->reads == steps{0, 1});
  tell(feed, retire{1, 3});
  grant(10, {{5, s}, {8, s}});
  CHECK(source->reads == steps{0, 1, 2});
  CHECK(parts() == steps{2, 5, 8});
  for (const auto& part : writer.all<snapshot_part>())
    CHECK(part.blobs.at("infeed/0") == (part.step == 2 ? "batch 2" : "batch 3"));
  grant(12, {{12, s}});
  CHECK(parts() == steps{2, 5, 8, 12});
  CHECK_MESSAGE(sink.count<end_of_data>() == 0, "the replica knows where it retires");
  SUBCASE("an end behind it") {
    tell(feed, rewind{1, 9});
    CHECK(writer.last<snapshot_part>().step == 9);
    CHECK(writer.last<snapshot_part>().blobs.at("infeed/0") == "batch 3");
  }
  SUBCASE("an end before it") {
    tell(feed, rewind{1, 1});
    CHECK(writer.last<snapshot_part>().step == 1);
    CHECK(writer.last<snapshot_part>().blobs.at("infeed/0") == "batch 1");
  }
  CHECK(chief.count<input_failed>() == 0);
}

TEST_CASE_FIXTURE(infeed_alone, "an attempt that begins behind the retirement of a group has the position as it was") {
  options.own_of = "the builder 'b'";
  source->batches = 3;
  start();
  tell(feed, begin{1, 7, "batch 3"});
  tell(feed, retire{1, 3});
  grant(9, {{7, s}, {9, s}});
  CHECK(parts() == steps{7, 9});
  CHECK(writer.last<snapshot_part>().blobs.at("infeed/0") == "batch 3");
  CHECK(source->reads.empty());
}

TEST_CASE_FIXTURE(infeed_alone, "data of a group's own that end before it retires are a failure, which says whose") {
  options.own_of = "the builder 'b'";
  source->batches = 3;
  start_at(0);
  grant(10);
  credit(20, 4);
  REQUIRE(chief.count<input_failed>() == 1);
  const auto& cause = chief.last<input_failed>().cause;
  CHECK(chief.last<input_failed>().step == 3);
  CHECK(cause.category == errc::invalid_argument);
  CHECK(cause.message == "the data of the builder 'b' (train_input) end before its training does");
  CHECK(sink.last<end_of_data>().kind == end_kind::failed);
  CHECK(sink.last<end_of_data>().first_missing_step == 3);
}

TEST_CASE_FIXTURE(infeed_alone, "a partial batch of a group's own data is refused") {
  options.own_of = "the builder 'b'";
  source->batches = 2;
  source->last_rows = 1;
  start_at(0);
  grant(10);
  credit(20, 1);
  REQUIRE(chief.count<input_failed>() == 1);
  CHECK(chief.last<input_failed>().cause.message
        == "the data of the builder 'b' (train_input) have a batch of 1 rows, and not of 2 as that of the search");
}

TEST_CASE_FIXTURE(infeed_alone, "an infeed whose only group has left reads no more, and a stop does not concern it") {
  options.own_of = "the builder 'b'";
  source->batches = 3;
  start_at(0);
  grant(2);
  credit(20, 1);
  tell(feed, stop{1});
  CHECK(sink.count<end_of_data>() == 0);
  tell(feed, leave{1, 0_edge, 2});
  grant(10, {{6, s}});
  CHECK(source->reads == steps{0, 1});
  CHECK(parts() == steps{6});
  CHECK(chief.count<input_failed>() == 0);
}

}  // namespace troupe::test
