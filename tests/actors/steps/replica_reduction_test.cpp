// Two replicas with their reducer, and in a collective.
#include "actors/steps/reducer.hpp"
#include "actors/steps/replica.hpp"
#include "support/replica_fixture.hpp"

#include <troupe/graph.hpp>

namespace troupe::test {

namespace {

struct two_replicas : simulation {
  std::shared_ptr<toy_memory> memory = std::make_shared<toy_memory>();
  std::shared_ptr<toy_engine> engines[2]{std::make_shared<toy_engine>(memory, 0, 2),
                                         std::make_shared<toy_engine>(memory, 1, 2)};
  using reports = recorder<step_report, stream_end, snapshot_part, gone>;
  reports out[2]{record<step_report, stream_end, snapshot_part, gone>(),
                 record<step_report, stream_end, snapshot_part, gone>()};
  replica_actor workers[2];

  two_replicas() {
    graph g;
    g.variable({.name = "v", .dims = {16}});  // Gradient: 64 bytes, as that of the toy engine.
    auto layout = std::make_shared<parameter_layout>(*parameter_layout::of(g, gradient_descent{}));
    bool meet = false;
    SUBCASE("by messages") {}
    SUBCASE("in a collective") { meet = true; }
    const auto sums = spawn(
        reducer, reducer_options{.sums = std::make_shared<gradient_reduction>(*gradient_reduction::plan(layout, 2))});
    const auto meeting = meet ? *collective::plan(layout, 2) : nullptr;
    for (int32_t r : {0, 1}) {
      const replica_options options{.name = "replica/" + std::to_string(r),
                                    .index = r,
                                    .replicas = 2,
                                    .in_edges = {{.id = 0_edge}},
                                    .engine = engines[r],
                                    .collective = meeting};
      workers[r] = spawn(replica, options);
      tell(workers[r], connect_reports{out[r].as<report_sink_actor>()});
      tell(workers[r], connect_parts{out[r].as<part_sink_actor>()});
      tell(workers[r], connect_reducer{caf::actor_cast<gradient_sink_actor>(sums)});
      tell(workers[r], begin{1, 0, {}});
    }
  }
  void grant(int64_t until, std::vector<mark> marks = {}) {
    for (auto& w : workers)
      tell(w, troupe::run{1, until, marks});
  }
  void retire_at(int64_t step) {
    for (auto& w : workers)
      tell(w, retire{1, step});
  }
  void feed(int r, int64_t first, int64_t count) { tell(workers[r], toy_block(first, count, r, 1)); }
  void end_data(int r, int64_t step) {
    tell(workers[r], end_of_data{1, 0_edge, step, {errc::out_of_range, "the data ended", {}, "infeed/0"}});
  }
  /// At `step`, in which the numbers of replica 1 are not finite; no part of it is saved.
  void check_both_ended_for_the_second(int64_t step) {
    for (auto& o : out) {
      REQUIRE(o.count<stream_end>() == 1);
      CHECK(o.last<stream_end>().step == step);
      CHECK(o.last<stream_end>().cause
            == error{errc::nan_loss, "the loss is not finite", {debug_numerics_hint}, "replica/1", step});
      CHECK(o.count<snapshot_part>() == 0);
    }
  }
  /// The two slices of the newest snapshot, one after the other.
  std::vector<float> saved() {
    auto joined = values_of(out[0].last<snapshot_part>());
    for (float v : values_of(out[1].last<snapshot_part>()))
      joined.push_back(v);
    return joined;
  }
};

}  // namespace

TEST_CASE_FIXTURE(two_replicas, "two replicas apply the same sum, and reach the state of one that sees all rows") {
  grant(7, {{7, mark_snapshot}});
  feed(0, 0, 4);
  CHECK_MESSAGE(engines[0]->applied.empty(), "a step is made by both or by neither");
  feed(1, 0, 7);
  CHECK(engines[0]->applied == first_steps(4));
  CHECK(engines[1]->applied == first_steps(4));
  CHECK_MESSAGE(engines[1]->computed == first_steps(5),
                "and none begins before the last one is applied by every replica");
  feed(0, 4, 3);
  CHECK(engines[1]->applied == first_steps(7));
  CHECK(saved() == toy_state(7));
}

TEST_CASE_FIXTURE(two_replicas,
                  "data that end unevenly stop both replicas at the smaller step, with everything saved") {
  grant(10);
  feed(0, 0, 4);
  end_data(0, 4);
  feed(1, 0, 6);
  end_data(1, 6);
  for (auto& o : out) {
    REQUIRE(o.count<stream_end>() == 1);
    CHECK(o.last<stream_end>().step == 4);
    CHECK(o.last<stream_end>().cause.category == errc::out_of_range);
    CHECK(o.order().back() == caf::type_id<stream_end>::value);
    REQUIRE(o.count<snapshot_part>() == 1);
    CHECK(o.last<snapshot_part>().step == 4);
  }
  CHECK(engines[1]->applied == first_steps(4));
  CHECK(saved() == toy_state(4));
}

TEST_CASE_FIXTURE(two_replicas, "what is not finite on one replica is applied by none") {
  engines[1]->before_step = [](int64_t step) { return step == 2 ? step_status::not_finite : step_status::ok; };
  grant(10);
  feed(0, 0, 4);
  feed(1, 0, 4);
  check_both_ended_for_the_second(2);
  CHECK(engines[0]->applied == steps{0, 1});
  CHECK(engines[1]->applied == steps{0, 1});
}

TEST_CASE_FIXTURE(two_replicas, "a sum that is not finite is applied by none, though every part of it was") {
  grant(10);
  for (int r : {0, 1})
    tell(workers[r], block{1, 0_edge, 0, 1, r, 1, {tensor::of<float>({2}, {3e38f, 3e38f})}});
  for (auto& o : out) {
    REQUIRE(o.count<stream_end>() == 1);
    CHECK(o.last<stream_end>().step == 0);
    const auto& cause = o.last<stream_end>().cause;
    CHECK(cause.category == errc::nan_loss);
    CHECK(cause.notes
          == std::vector<std::string>{"the gradient of variable v has inf at [0]",
                                      "every replica's part of it is finite: their sum overflowed"});
  }
  CHECK(engines[0]->applied.empty());
}

TEST_CASE_FIXTURE(
    two_replicas,
    "without debug_numerics a gradient that is not finite is found in the sum, with the replica and variable") {
  grant(10);
  tell(workers[0], block{1, 0_edge, 0, 1, 0, 1, {tensor::of<float>({2}, {1, 1})}});
  tell(workers[1], block{1, 0_edge, 0, 1, 1, 1, {tensor::of<float>({2}, {-INFINITY, -INFINITY})}});
  for (auto& o : out)
    CHECK(o.last<stream_end>().cause
          == error{errc::nan_loss,
                   "the reduced gradient is not finite",
                   {"the gradient of variable v has -inf at [0]",
                    "on replica/1 the gradient of variable v has -inf at [0]", debug_numerics_hint},
                   "reduction",
                   0});
  CHECK(engines[0]->searched.empty());
  CHECK(engines[1]->searched.empty());
}

TEST_CASE_FIXTURE(two_replicas, "when one replica's data end where another's are not finite, nothing is saved") {
  engines[1]->before_step = [](int64_t step) { return step == 2 ? step_status::not_finite : step_status::ok; };
  grant(10);
  feed(0, 0, 2);
  end_data(0, 2);
  feed(1, 0, 4);
  for (auto& o : out) {
    CHECK(o.last<stream_end>().cause.category == errc::nan_loss);
    CHECK(o.count<snapshot_part>() == 0);
  }
}

TEST_CASE_FIXTURE(two_replicas, "replicas that retire go on together, apply nothing, and save what they have") {
  retire_at(3);
  grant(8, {{7, mark_snapshot}});
  feed(0, 0, 8);
  CHECK_MESSAGE(engines[0]->computed == first_steps(1), "they train until then");
  feed(1, 0, 4);
  for (auto& e : engines)
    CHECK(e->applied == first_steps(3));
  CHECK(engines[1]->forward == steps{3});
  CHECK_MESSAGE((engines[0]->forward == steps{3, 4}), "replica 0 waits in step 4 until the other has made it, too");
  CHECK(engines[0]->carried == 4);
  feed(1, 4, 4);
  for (auto& e : engines) {
    CHECK(e->computed == first_steps(3));
    CHECK(e->forward == steps{3, 4, 5, 6, 7});
    CHECK(e->carried == 8);
  }
  CHECK(saved() == toy_state(3));
  SUBCASE("an attempt that begins before that trains again") {
    auto chief = record<halted>();
    for (auto& w : workers)
      tell_as(chief.handle(), w, halt{1});
    for (int r : {1, 0}) {
      tell(workers[r], begin{2, 8, {}});
      tell(workers[r], toy_block(8, 2, r, 1, 2));
      tell(workers[r], troupe::run{2, 10, {}});
    }
    for (auto& e : engines)
      CHECK(e->applied == steps{0, 1, 2, 8, 9});
  }
}

TEST_CASE_FIXTURE(two_replicas, "what is not finite on one replica of a retired group is a step of none") {
  engines[1]->before_step = [](int64_t step) { return step == 5 ? step_status::not_finite : step_status::ok; };
  retire_at(3);
  grant(10);
  feed(0, 0, 8);
  feed(1, 0, 8);
  check_both_ended_for_the_second(5);
  for (auto& e : engines) {
    CHECK(e->applied == first_steps(3));
    CHECK(e->forward == steps{3, 4, 5});
    CHECK_MESSAGE(e->carried == 5, "nothing is carried out of the step that does not count");
  }
}

TEST_CASE_FIXTURE(two_replicas, "data that end unevenly stop a retired group at the smaller step, with all parts") {
  retire_at(2);
  grant(10);
  feed(0, 0, 4);
  end_data(0, 4);
  feed(1, 0, 6);
  end_data(1, 6);
  for (auto& o : out) {
    REQUIRE(o.count<stream_end>() == 1);
    CHECK(o.last<stream_end>().step == 4);
    CHECK(o.last<stream_end>().kind == end_kind::data);
    REQUIRE(o.count<snapshot_part>() == 1);
    CHECK(o.last<snapshot_part>().step == 4);
  }
  CHECK(saved() == toy_state(2));
}

TEST_CASE_FIXTURE(two_replicas, "a halt in the middle of a step of a retired group leaves nothing behind") {
  auto chief = record<halted>();
  retire_at(1);
  grant(10);
  feed(0, 0, 3);
  feed(1, 0, 2);  // Replica 0 waits in step 2.
  CHECK(engines[0]->forward == steps{1, 2});
  for (auto& w : workers)
    tell_as(chief.handle(), w, halt{1});
  tell(workers[0], wake{1, 2});
  CHECK(engines[0]->carried == 2);
  for (auto& w : workers)
    tell(w, begin{2, 2, {}});
  for (int r : {1, 0}) {
    tell(workers[r], retire{2, 1});
    tell(workers[r], toy_block(2, 3, r, 1, 2));
    tell(workers[r], troupe::run{2, 5, {{5, mark_snapshot}}});
  }
  for (auto& e : engines)
    CHECK(e->carried == 5);
  CHECK(engines[1]->forward == steps{1, 2, 3, 4});
  CHECK(saved() == toy_state(1));
}

TEST_CASE_FIXTURE(two_replicas, "replicas write to one arena, though a snapshot is released to one of them first") {
  feed(0, 0, 8);
  feed(1, 0, 8);
  grant(2, {{2, mark_snapshot}});
  tell(workers[0], released{1, 2});
  grant(5, {{5, mark_snapshot}});
  CHECK(saved() == toy_state(5));
  SUBCASE("nor does it matter to whom another writer is made known first") {
    auto second = record<snapshot_part>();
    tell(workers[1], released{1, 2});
    tell(workers[0], connect_parts{second.as<part_sink_actor>()});
    grant(8, {{8, mark_snapshot}});
    tell(workers[1], connect_parts{second.as<part_sink_actor>()});
    REQUIRE(second.count<snapshot_part>() == 1);
    REQUIRE(out[1].count<snapshot_part>() == 3);
    grant(8, {{8, mark_snapshot}});
    REQUIRE(second.count<snapshot_part>() == 2);
    auto joined = values_of(second.all<snapshot_part>()[0]);
    for (float v : values_of(second.all<snapshot_part>()[1]))
      joined.push_back(v);
    CHECK(joined == toy_state(8));
  }
}

TEST_CASE_FIXTURE(two_replicas, "a halt in the middle of a step leaves nothing behind for the next attempt") {
  auto chief = record<halted>();
  grant(10);
  feed(0, 0, 3);
  feed(1, 0, 2);  // Replica 0 waits in step 2.
  CHECK(engines[0]->computed == first_steps(3));
  for (auto& w : workers)
    tell_as(chief.handle(), w, halt{1});
  CHECK(chief.count<halted>() == 2);
  tell(workers[0], wake{1, 2});
  CHECK(engines[0]->applied == first_steps(2));
  for (auto& w : workers)
    tell(w, begin{2, 2, {}});
  for (int r : {1, 0}) {
    tell(workers[r], toy_block(2, 3, r, 1, 2));
    tell(workers[r], troupe::run{2, 5, {{5, mark_snapshot}}});
  }
  CHECK(engines[0]->applied == first_steps(5));
  CHECK(engines[1]->applied == first_steps(5));
  CHECK(saved() == toy_state(5));
}

TEST_CASE_FIXTURE(two_replicas, "a replica that is woken for nothing goes on waiting") {
  grant(10);
  feed(0, 0, 3);
  tell(workers[0], wake{1, 0});
  tell(workers[0], wake{1, 7});
  tell(workers[0], wake{0, 0});
  CHECK(engines[0]->computed == first_steps(1));
  CHECK(engines[0]->applied.empty());
  feed(1, 0, 3);
  CHECK(engines[0]->applied == first_steps(3));
}

TEST_CASE_FIXTURE(two_replicas, "variables are read between two steps, and those of a step under way once it is made") {
  auto reader = record<variables_read>();
  const auto from = reader.as<variables_sink_actor>();
  const auto ask = [&](uint64_t number, std::vector<std::string> names) {
    tell_as(from, workers[1], read_variables{1, number, std::move(names)});
  };
  grant(7);
  ask(1, {"toy/state"});
  REQUIRE(reader.count<variables_read>() == 1);
  CHECK(reader.last<variables_read>().step == 0);
  feed(0, 0, 4);
  feed(1, 0, 7);
  REQUIRE(engines[1]->computed == first_steps(5));
  ask(2, {"toy/state"});
  ask(9, {"toy/state"});
  ask(9, {});  // It is taken back.
  CHECK_MESSAGE(reader.count<variables_read>() == 1, "the step is under way");
  feed(0, 4, 3);
  REQUIRE(reader.count<variables_read>() == 2);
  const auto& found = reader.last<variables_read>();
  CHECK(found.number == 2);
  CHECK_MESSAGE(found.step == 5, "at the end of that step, though others follow at once");
  REQUIRE(found.values.size() == 1);
  const auto values = found.values.front().as<float>();
  CHECK(std::vector<float>{values.begin(), values.end()} == toy_state(found.step));
  ask(3, {"toy/state", "toy/slot"});
  CHECK(reader.last<variables_read>().cause.category == errc::not_found);
  SUBCASE("one of a step that is never made is left to the next attempt") {
    grant(9);
    feed(1, 7, 2);
    ask(4, {"toy/state"});
    for (auto& w : workers)
      tell_as(record<halted>().as<halted_sink_actor>(), w, halt{1});
    ask(5, {"toy/state"});
    CHECK(reader.count<variables_read>() == 3);
  }
}

}  // namespace troupe::test
