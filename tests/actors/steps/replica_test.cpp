#include "actors/steps/replica.hpp"

#include "support/replica_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(replica_alone, "a replica computes nothing past the horizon") {
  start();
  feed(0, 8);
  CHECK(engine->computed.empty());
  grant(3);
  CHECK(engine->computed == steps{0, 1, 2});
  SUBCASE("a repeated or smaller grant changes nothing") {
    grant(3);
    grant(1);
    CHECK(engine->computed == steps{0, 1, 2});
  }
  SUBCASE("a larger one continues") {
    grant(5);
    CHECK(engine->computed == first_steps(5));
    CHECK(engine->applied == first_steps(5));
  }
}

TEST_CASE_FIXTURE(replica_alone, "a replica computes nothing without a batch") {
  start();
  grant(10);
  feed(0, 2);
  CHECK(engine->computed == steps{0, 1});
  SUBCASE("a repeated block is no new one") {
    feed(0, 2);
    CHECK(engine->computed == steps{0, 1});
  }
  SUBCASE("nor is one that does not follow") {
    feed(4, 2);
    CHECK(engine->computed == steps{0, 1});
    feed(2, 1);
    CHECK(engine->computed == steps{0, 1, 2});
  }
}

TEST_CASE_FIXTURE(replica_alone,
                  "a replica waits for a batch on every port, and feeds them in the order of its edges") {
  options.in_edges = {{.id = 0_edge}, {.id = 4_edge}};
  start();
  grant(10);
  tell(worker, block{1, 4_edge, 0, 2, 0, 2, {tensor::of<float>({4}, {70, 80, 90, 100})}});
  CHECK(engine->computed.empty());
  feed(0, 3);
  CHECK(engine->computed == steps{0, 1});
  REQUIRE(out.count<step_report>() >= 1);
  CHECK_MESSAGE(out.all<step_report>()[0].losses.at(0) == doctest::Approx(2),
                "the first feed is edge 0's: 0 + 1, and the state is 1");
}

TEST_CASE_FIXTURE(replica_alone, "every block is reported, and so is every mark") {
  start();
  feed(0, 2);
  feed(2, 2);
  feed(4, 2);
  grant(6, {{1, mark_watch}, {4, mark_snapshot}});
  CHECK(reports() == std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 1}, {2, 2}, {4, 2}});
  const auto& first = out.all<step_report>()[0];
  CHECK(first.attempt == 1);
  CHECK(first.replica == options.id);
}

TEST_CASE_FIXTURE(replica_alone, "losses are those of the bare loop, whatever blocks and grants they come in") {
  start();
  for (int64_t until : {1, 2, 5, 9})
    grant(until);
  feed(0, 3);
  feed(3, 1);
  feed(4, 5);
  std::vector<double> losses;
  for (const auto& r : out.all<step_report>())
    losses.insert(losses.end(), r.losses.begin(), r.losses.end());
  REQUIRE(losses.size() == 9);
  for (int64_t s = 0; s < 9; ++s) {
    const auto x = toy_batch(s);
    CHECK(losses[static_cast<size_t>(s)] == static_cast<double>(x[0] + x[1] + toy_state(s)[0]));
  }
}

TEST_CASE_FIXTURE(replica_alone, "a watch mark reports the values of the step that led there, once") {
  start();
  grant(6, {{2, mark_watch}, {6, mark_watch}});
  feed(0, 6);
  std::vector<step_values> seen;
  for (const auto& r : out.all<step_report>())
    seen.insert(seen.end(), r.watched.begin(), r.watched.end());
  REQUIRE(seen.size() == 2);
  const auto x = toy_batch(1);
  CHECK(seen[0].step == 2);
  CHECK(seen[0].values.at(0) == tensor::scalar(x[0] + x[1] + toy_state(1)[0]));
  CHECK(seen[1].step == 6);

  const auto reported = out.count<step_report>();
  grant(6, {{6, mark_watch}});
  CHECK_MESSAGE(out.count<step_report>() == reported, "a repeated mark is not served twice");
}

TEST_CASE_FIXTURE(replica_alone, "a watch at the first state reports that there are no values yet") {
  start();
  grant(0, {{0, mark_watch}});
  REQUIRE(out.count<step_report>() == 1);
  CHECK(out.last<step_report>().losses.empty());
  REQUIRE(out.last<step_report>().watched.size() == 1);
  CHECK(out.last<step_report>().watched[0].step == 0);
  CHECK(out.last<step_report>().watched[0].values.empty());
}

TEST_CASE_FIXTURE(replica_alone, "an end mark stops, whatever is granted beyond it") {
  start();
  feed(0, 8);
  grant(3, {{3, mark_end}});
  grant(8);
  CHECK(engine->computed == steps{0, 1, 2});
  CHECK(reports() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}});
  CHECK(out.count<stream_end>() == 0);
}

TEST_CASE_FIXTURE(replica_alone, "data that end stop the stream at the first missing step") {
  start();
  grant(10);
  feed(0, 2);
  tell(worker, toy_block(2, 2));
  end_data(4);
  CHECK(engine->computed == first_steps(4));
  CHECK(out.order() == order_of<step_report, step_report, snapshot_part, stream_end>());
  CHECK(out.last<stream_end>().step == 4);
  CHECK(out.last<stream_end>().cause.category == errc::out_of_range);
  CHECK(out.last<snapshot_part>().step == 4);
  CHECK(values_of(out.last<snapshot_part>()) == toy_state(4));
  SUBCASE("and nothing follows") {
    end_data(4);
    feed(4, 2);
    grant(12, {{12, mark_watch}});
    CHECK(out.order().size() == 4);
  }
}

TEST_CASE_FIXTURE(replica_alone, "steps that were done when the data end within a block are reported first") {
  start();
  feed(0, 4);
  grant(4, {{3, mark_watch}});
  end_data(4);
  grant(10);
  CHECK(out.order() == order_of<step_report, step_report, snapshot_part, stream_end>());
  CHECK(reports() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 1}});
}

TEST_CASE_FIXTURE(replica_alone, "data without a single batch end at the first step") {
  start();
  end_data(0);
  grant(10);
  CHECK(out.last<stream_end>().step == 0);
  CHECK(out.count<step_report>() == 0);
}

TEST_CASE_FIXTURE(replica_alone, "a step that is not finite is applied nowhere, saved nowhere, and named") {
  engine->before_step = [](int64_t step) { return step == 2 ? step_status::not_finite : step_status::ok; };
  start();
  feed(0, 5);
  grant(10, {{3, mark_snapshot}});
  CHECK(engine->applied == steps{0, 1});
  CHECK(out.order() == order_of<step_report, stream_end>());
  CHECK(reports() == std::vector<std::pair<int64_t, int64_t>>{{0, 2}});
  CHECK(out.last<stream_end>().step == 2);
  CHECK(out.last<stream_end>().cause
        == error{errc::nan_loss, "the loss is not finite", {debug_numerics_hint}, "replica/0", 2});
  CHECK_MESSAGE(engine->searched.empty(), "nobody asked why");
  CHECK(std::equal(memory->arena[0].get(), memory->arena[0].get() + 4, toy_state(2).begin()));
  SUBCASE("and nothing follows") {
    feed(5, 2);
    grant(12, {{10, mark_snapshot}});
    CHECK(out.order().size() == 2);
  }
}

TEST_CASE_FIXTURE(replica_alone, "a gradient that is not finite is not applied either") {
  start();
  grant(10);
  feed(0, 1);
  tell(worker, block{1, 0_edge, 1, 1, 0, 2, {tensor::of<float>({2}, {INFINITY, 0})}});
  CHECK(engine->applied == steps{0});
  REQUIRE(out.count<stream_end>() == 1);
  CHECK(out.last<stream_end>().step == 1);
  CHECK(out.last<stream_end>().cause.category == errc::nan_loss);
}

TEST_CASE_FIXTURE(replica_alone, "a batch that the model refuses ends the stream with what the model said") {
  engine->trouble = {errc::invalid_argument, "label 12 of row 1 is outside [0, 10)"};
  engine->before_step = [](int64_t step) { return step == 1 ? step_status::bad_input : step_status::ok; };
  start();
  feed(0, 3);
  grant(10);
  CHECK(engine->applied == steps{0});
  CHECK(out.order() == order_of<step_report, stream_end>());
  CHECK(out.last<stream_end>().cause
        == error{errc::invalid_argument, "label 12 of row 1 is outside [0, 10)", {}, "replica/0", 1});
}

TEST_CASE_FIXTURE(replica_alone,
                  "a batch that could not be read ends the stream with the reader's cause, and saves nothing") {
  start();
  feed(0, 2);
  grant(10);
  end_data(2, {errc::data_loss, "record 5 has a wrong checksum", {}, "infeed/0", 2});
  CHECK(out.order() == order_of<step_report, stream_end>());
  CHECK(out.last<stream_end>().cause == error{errc::data_loss, "record 5 has a wrong checksum", {}, "infeed/0", 2});
}

TEST_CASE_FIXTURE(replica_alone, "messages of another attempt are dropped") {
  options.in_edges = {{.id = 0_edge}};
  start();
  tell(worker, begin{3, 0, {}});
  tell(worker, begin{2, 7, {}});
  for (int32_t attempt : {1, 2, 4}) {
    tell(worker, troupe::run{attempt, 10, {{0, mark_snapshot}}});
    tell(worker, toy_block(0, 2, 0, 2, attempt));
    tell(worker, end_of_data{attempt, 0_edge, 0, {errc::out_of_range, "the data ended"}});
    tell(worker, released{attempt, 0});
  }
  CHECK(engine->computed.empty());
  CHECK(out.order().empty());
  tell(worker, troupe::run{3, 10, {}});
  tell(worker, toy_block(0, 2, 0, 2, 3));
  CHECK(engine->computed == steps{0, 1});
  CHECK(out.last<step_report>().attempt == 3);
}

TEST_CASE_FIXTURE(replica_alone,
                  "what a source that began earlier says of the next attempt is kept until it begins here") {
  start();
  SUBCASE("batches, and the end behind them") {
    tell(worker, toy_block(4, 2, 0, 2, 2));
    tell(worker, end_of_data{2, 0_edge, 6, {errc::out_of_range, "the data ended"}, end_kind::data});
    CHECK(engine->computed.empty());
    tell(worker, begin{2, 4, {}});
    tell(worker, troupe::run{2, 10, {}});
    CHECK(engine->computed == steps{4, 5});
    CHECK(out.last<stream_end>().step == 6);
    CHECK(out.last<stream_end>().attempt == 2);
  }
  SUBCASE("the end alone, of data that could not be opened") {
    tell(worker, end_of_data{2, 0_edge, 4, {errc::unavailable, "no file server"}, end_kind::failed});
    tell(worker, begin{2, 4, {}});
    tell(worker, troupe::run{2, 10, {}});
    CHECK(out.last<stream_end>().cause.category == errc::unavailable);
  }
}

TEST_CASE_FIXTURE(replica_alone, "a new attempt starts at its step, with nothing of the one before") {
  start();
  feed(0, 6);
  grant(4, {{2, mark_snapshot}, {4, mark_snapshot}});
  end_data(6);
  std::copy_n(toy_state(2).begin(), 4, memory->arena[0].get());  // As a restoration does.
  engine->computed.clear();
  tell(worker, begin{2, 2, {}});
  tell(worker, troupe::run{2, 5, {{5, mark_snapshot}}});
  CHECK(engine->computed.empty());
  tell(worker, toy_block(2, 8, 0, 2, 2));
  CHECK(engine->computed == steps{2, 3, 4});
  CHECK(values_of(out.last<snapshot_part>()) == toy_state(5));
  CHECK(source.last<pull>().attempt == 2);
}

TEST_CASE_FIXTURE(replica_alone, "credit is given for a few blocks ahead, and follows what was applied") {
  start();
  REQUIRE(source.count<pull>() >= 1);
  const auto first = source.last<pull>();
  CHECK(first.until_step >= 1);
  CHECK(first.applied_step == 0);
  grant(100);
  feed(0, 2);
  const auto second = source.last<pull>();
  CHECK(second.until_step > first.until_step);
  CHECK(second.applied_step == 2);
  CHECK(second.until_step <= 2 + options.in_edges[0].credit_blocks * second.block_steps);
}

TEST_CASE_FIXTURE(replica_alone, "a block is as many steps as 20 ms hold") {
  engine->before_step = [this](int64_t) {
    schedule.clock().current_time += std::chrono::milliseconds(4);
    return step_status::ok;
  };
  start();
  grant(1000);
  for (int64_t s = 0; s < 64; s += 4)
    feed(s, 4);
  CHECK(source.last<pull>().block_steps == 5);
}

TEST_CASE_FIXTURE(replica_alone, "a block holds one batch when a step is longer than that") {
  engine->before_step = [this](int64_t) {
    schedule.clock().current_time += std::chrono::seconds(3);
    return step_status::ok;
  };
  start();
  grant(1000);
  for (int64_t s = 0; s < 8; ++s)
    feed(s, 1);
  CHECK(source.last<pull>().block_steps == 1);
}

TEST_CASE_FIXTURE(replica_alone, "who wants smaller blocks says so though there is no more credit, and says it once") {
  std::chrono::seconds taken{0};
  engine->before_step = [&](int64_t) {
    schedule.clock().current_time += taken;
    return step_status::ok;
  };
  start();
  grant(1000);
  for (int64_t s = 0; s < 10; ++s)
    feed(s, 1);
  const auto large = source.last<pull>();
  REQUIRE(large.block_steps > 100);
  const auto before = source.count<pull>();
  taken = std::chrono::seconds{3};
  feed(10, 1);
  REQUIRE(source.count<pull>() == before + 1);
  CHECK(source.last<pull>().block_steps == 1);
  CHECK(source.last<pull>().until_step == large.until_step);
  feed(11, 1);
  CHECK(source.count<pull>() == before + 1);
}

TEST_CASE_FIXTURE(replica_alone, "blocks of steps too short to be measured are bounded by their bytes") {
  options.in_edges[0].block_bytes_max = 80;  // A batch has 8 bytes.
  start();
  grant(1000);
  for (int64_t s = 0; s < 200; ++s)
    feed(s, 1);
  CHECK(engine->computed.size() == 200);
  CHECK(source.last<pull>().block_steps == 10);
  CHECK(source.last<pull>().until_step == 200 + options.in_edges[0].credit_blocks * 10);
}

TEST_CASE_FIXTURE(replica_alone, "while evaluating every step's values are reported, and nothing is updated") {
  options.mode = mode::evaluate;
  start();
  grant(10);
  feed(0, 3);
  end_data(3);
  CHECK(engine->applied.empty());
  CHECK(out.order() == order_of<step_report, stream_end>());
  CHECK(out.last<step_report>().watched.size() == 3);
  CHECK(out.last<stream_end>().step == 3);
}

TEST_CASE_FIXTURE(replica_alone,
                  "a summary mark reports what the step that led there recorded, together with that step's loss") {
  start();
  grant(6, {{2, mark_summary}, {5, mark_summary | mark_watch}});
  feed(0, 6);
  std::vector<int64_t> at;
  for (const auto& r : out.all<step_report>())
    for (const auto& recorded : r.recorded) {
      at.push_back(recorded.step);
      CHECK(recorded.step == r.step + static_cast<int64_t>(r.losses.size()));
      CHECK(recorded.sets.size() == 1);
    }
  CHECK(at == steps{2, 5});
  CHECK(engine->told_to_record == steps{1, 4});
}

TEST_CASE_FIXTURE(replica_alone, "a summary mark that comes when its step is done already records nothing") {
  start();
  grant(2);
  feed(0, 4);
  grant(2, {{2, mark_summary}});
  grant(4);
  for (const auto& r : out.all<step_report>())
    CHECK(r.recorded.empty());
  CHECK(out.all<step_report>().size() >= 2);
}

}  // namespace troupe::test
