// A replica whose outputs others read, and whose sources and readers may leave.
#include "support/replica_fixture.hpp"

namespace troupe::test {

namespace {

struct exposing_replica : replica_alone {
  recorder<block, end_of_data> reader = record<block, end_of_data>(), other = record<block, end_of_data>();

  exposing_replica() {
    engine->shown = {{"sum", dtype::float32, {}}};
    options.out_edges = {{5_edge, 6_edge}};
  }
  void start_exposing() {
    start();
    tell(worker, connect_reader{5_edge, reader.as<block_sink_actor>()});
    tell(worker, connect_reader{6_edge, other.as<block_sink_actor>()});
  }
  void credit(edge_id edge, int64_t until, int64_t block_steps = 8) {
    tell(worker, pull{1, edge, until, 0, block_steps});
  }
  static int64_t steps_in(recorder<block, end_of_data>& r) {
    int64_t count = 0;
    for (const auto& b : r.all<block>())
      count += b.count;
    return count;
  }
  /// The exposed output of step `s`: each row fed plus the first number of state s.
  static std::vector<float> shown_at(int64_t s) {
    auto rows = toy_batch(s);
    for (float& v : rows)
      v += toy_state(s)[0];
    return rows;
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    exposing_replica,
    "what a step yields goes to every reader, in step order and whole, and no further than the least credit") {
  start_exposing();
  grant(20);
  feed(0, 10);
  CHECK_MESSAGE(engine->computed.empty(), "nobody has room");
  credit(5_edge, 7);
  CHECK(engine->computed.empty());
  credit(6_edge, 4);
  CHECK(engine->applied == first_steps(4));
  credit(6_edge, 9);
  CHECK(engine->applied == first_steps(7));
  credit(5_edge, 9);
  CHECK(engine->applied == first_steps(9));
  for (auto* r : {&reader, &other}) {
    int64_t next = 0;
    for (const auto& b : r->all<block>()) {
      CHECK(b.step == next);
      CHECK(b.rows == 2);
      CHECK(b.first_row == 0);
      REQUIRE(b.components.size() == 1);
      CHECK(b.components[0].dims() == shape{2 * b.count});
      for (int64_t i = 0; i < b.count; ++i) {
        const auto rows = b.components[0].as<float>().subspan(static_cast<size_t>(2 * i), 2);
        CHECK(std::vector<float>{rows.begin(), rows.end()} == shown_at(next + i));
      }
      next += b.count;
    }
    CHECK(next == 9);
  }
  CHECK(reader.last<block>().edge == 5_edge);
  CHECK(other.last<block>().edge == 6_edge);
}

TEST_CASE_FIXTURE(exposing_replica, "readers that are named last hold a step up until they are, and no longer") {
  start();
  grant(20);
  feed(0, 3);
  credit(5_edge, 9);
  credit(6_edge, 9);
  tell(worker, connect_reader{5_edge, reader.as<block_sink_actor>()});
  CHECK(engine->computed.empty());
  tell(worker, connect_reader{6_edge, other.as<block_sink_actor>()});
  CHECK(steps_in(reader) == 3);
  CHECK(steps_in(other) == 3);
}

TEST_CASE_FIXTURE(
    exposing_replica,
    "a reader's message has no more steps than it wants, and credit that comes before the attempt is kept") {
  start();
  tell(worker, connect_reader{5_edge, reader.as<block_sink_actor>()});
  tell(worker, connect_reader{6_edge, other.as<block_sink_actor>()});
  tell(worker, pull{2, 5_edge, 9, 0, 2});
  tell(worker, pull{2, 6_edge, 9, 0, 8});
  tell(worker, begin{2, 0, {}});
  tell(worker, troupe::run{2, 9, {}});
  tell(worker, toy_block(0, 9, 0, 2, 2));
  CHECK(steps_in(reader) == 9);
  for (const auto& b : reader.all<block>())
    CHECK(b.count <= 2);
}

TEST_CASE_FIXTURE(exposing_replica, "the end of the data goes on to readers, after all that precedes it") {
  start_exposing();
  grant(20);
  credit(5_edge, 20);
  credit(6_edge, 20);
  feed(0, 3);
  end_data(3);
  CHECK(steps_in(reader) == 3);
  REQUIRE(reader.count<end_of_data>() == 1);
  CHECK(reader.last<end_of_data>().first_missing_step == 3);
  CHECK(reader.last<end_of_data>().cause.category == errc::out_of_range);
  CHECK(reader.last<end_of_data>().kind == end_kind::data);
  CHECK(other.count<end_of_data>() == 1);
  CHECK(parts() == steps{3});
}

TEST_CASE_FIXTURE(exposing_replica, "a stop that comes with the data is a healthy end, and goes on as one") {
  start_exposing();
  grant(20);
  credit(5_edge, 20);
  credit(6_edge, 20);
  feed(0, 2);
  tell(worker, end_of_data{1, 0_edge, 2, {errc::cancelled, "the job was stopped"}, end_kind::stopped});
  CHECK(reader.last<end_of_data>().kind == end_kind::stopped);
  CHECK(parts() == steps{2});
  CHECK(out.last<stream_end>().step == 2);
}

TEST_CASE_FIXTURE(
    exposing_replica,
    "a step that fails is shown to nobody, and its readers are told of no end: what follows is the chief's to say") {
  start_exposing();
  grant(20);
  credit(5_edge, 20);
  credit(6_edge, 20);
  engine->before_step = [](int64_t step) { return step == 2 ? step_status::not_finite : step_status::ok; };
  feed(0, 5);
  CHECK(steps_in(reader) == 2);
  CHECK(reader.count<end_of_data>() == 0);
  CHECK(out.last<stream_end>().cause.category == errc::nan_loss);
}

TEST_CASE_FIXTURE(exposing_replica, "a reader that has left holds nobody up and is sent nothing more") {
  start_exposing();
  grant(20);
  credit(5_edge, 20);
  credit(6_edge, 2);
  feed(0, 6);
  CHECK(engine->applied == first_steps(2));
  tell(worker, leave{1, 6_edge, 2});
  CHECK(engine->applied == first_steps(6));
  CHECK(steps_in(reader) == 6);
  CHECK(steps_in(other) == 2);
}

TEST_CASE_FIXTURE(exposing_replica, "from where it retires a replica computes and shows, and its state stays") {
  start_exposing();
  grant(20);
  credit(5_edge, 20);
  credit(6_edge, 20);
  tell(worker, retire{1, 3});
  feed(0, 6);
  CHECK(engine->computed == first_steps(3));
  CHECK(engine->forward == std::vector<int64_t>{3, 4, 5});
  CHECK(engine->applied == first_steps(3));
  CHECK(steps_in(reader) == 6);
  const auto last = reader.last<block>();
  const auto rows = last.components[0].as<float>();
  CHECK(rows[rows.size() - 2] == toy_batch(5)[0] + toy_state(3)[0]);
  grant(20, {{6, mark_snapshot}});
  CHECK(values_of(out.last<snapshot_part>()) == toy_state(3));
  CHECK(reports().back().first + reports().back().second == 6);
}

TEST_CASE_FIXTURE(replica_alone,
                  "a replica that retires does without its group's own data, and gives credit for them until then") {
  options.in_edges = {{.id = 0_edge, .row_bytes = {4}}, {.id = 4_edge, .row_bytes = {4}, .until_retired = true}};
  auto own = record<pull>();
  start();
  tell(worker, connect_source{4_edge, own.as<credit_source_actor>()});
  tell(worker, retire{1, 2});
  grant(6);
  feed(0, 6);
  CHECK(engine->computed.empty());
  const auto pulls = own.count<pull>();
  CHECK(pulls > 0);
  tell(worker, block{1, 4_edge, 0, 1, 0, 2, {tensor::of<float>({2}, {70, 80})}});
  CHECK(engine->computed == first_steps(1));
  CHECK(own.count<pull>() > pulls);
  tell(worker, block{1, 4_edge, 1, 1, 0, 2, {tensor::of<float>({2}, {70, 80})}});
  CHECK(engine->computed == first_steps(2));
  CHECK(engine->forward == std::vector<int64_t>{2, 3, 4, 5});
  CHECK(std::all_of(engine->fed[1], engine->fed[1] + 8, [](std::byte b) { return b == std::byte{}; }));
  tell(worker, begin{2, 0, {}});
  tell(worker, troupe::run{2, 6, {}});
  tell(worker, toy_block(0, 6, 0, 2, 2));
  CHECK_MESSAGE(engine->computed == first_steps(2), "another attempt needs them again");
}

TEST_CASE_FIXTURE(replica_alone,
                  "a source that has left is read as zeros from its step on, and what it sent before counts") {
  options.in_edges = {{.id = 0_edge, .row_bytes = {4}}, {.id = 4_edge, .row_bytes = {4}}};
  engine->shown = {{"sum", dtype::float32, {}}};
  options.out_edges = {{7_edge}};
  auto reader = record<block, end_of_data>();
  start();
  tell(worker, connect_reader{7_edge, reader.as<block_sink_actor>()});
  tell(worker, pull{1, 7_edge, 20, 0, 1});
  grant(4);
  feed(0, 4);
  tell(worker, block{1, 4_edge, 0, 2, 0, 2, {tensor::of<float>({4}, {70, 80, 90, 100})}});
  CHECK(engine->computed == first_steps(2));
  tell(worker, leave{1, 4_edge, 1});
  CHECK(engine->computed == first_steps(4));
  std::vector<float> seen;  // The rows of the second port: the output less the state.
  for (const auto& b : reader.all<block>())
    seen.push_back(b.components[0].as<float>()[0] - toy_state(b.step)[0]);
  CHECK(seen == std::vector<float>{70, 90, 0, 0});
}

TEST_CASE_FIXTURE(replica_alone,
                  "the zeros of a source that has left stay where they are while a larger component needs more") {
  options.in_edges = {{.id = 0_edge, .row_bytes = {4}}, {.id = 4_edge, .row_bytes = {4, 4096, 8}}};
  start();
  grant(1);
  tell(worker, leave{1, 4_edge, 0});
  feed(0, 1);
  CHECK(engine->computed == first_steps(1));
  REQUIRE(engine->fed.size() == 4);
  CHECK(engine->fed[1] == engine->fed[2]);
  CHECK(engine->fed[2] == engine->fed[3]);
  CHECK(std::all_of(engine->fed[2], engine->fed[2] + 2 * 4096, [](std::byte b) { return b == std::byte{}; }));
}

TEST_CASE_FIXTURE(replica_alone, "ports that bring different numbers of rows for a step are an error that names both") {
  options.in_edges = {{.id = 0_edge}, {.id = 4_edge}};
  start();
  grant(4);
  feed(0, 1);
  tell(worker, block{1, 4_edge, 0, 1, 0, 3, {tensor::of<float>({3}, {1, 2, 3})}});
  REQUIRE(out.count<stream_end>() == 1);
  CHECK(out.last<stream_end>().cause.category == errc::invalid_argument);
  CHECK(out.last<stream_end>().cause.message == "edge 4 brought 3 rows for step 0, and edge 0 brought 2");
}

}  // namespace troupe::test
