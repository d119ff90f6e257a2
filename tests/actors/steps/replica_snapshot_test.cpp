#include "actors/steps/replica.hpp"
#include "support/replica_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(replica_alone, "a snapshot is lent on reaching its step, even when nobody makes the next one") {
  start();
  feed(0, 8);
  SUBCASE("the horizon ends there") {
    grant(3, {{3, mark_snapshot}});
    CHECK(engine->computed == steps{0, 1, 2});
  }
  SUBCASE("it has no batch to go on with") {
    grant(20, {{8, mark_snapshot}});
    REQUIRE(parts() == steps{8});
    CHECK(values_of(out.last<snapshot_part>()) == toy_state(8));
    return;
  }
  SUBCASE("the mark arrives where it already stands") {
    grant(3);
    CHECK(parts().empty());
    grant(3, {{3, mark_snapshot}});
  }
  REQUIRE(parts() == steps{3});
  const auto& part = out.last<snapshot_part>();
  CHECK(part.attempt == 1);
  CHECK(part.part == options.id);
  REQUIRE(part.pieces.size() == 1);
  CHECK(part.pieces[0].name == "toy/state");
  CHECK(part.pieces[0].dims == std::vector<int64_t>{4});
  CHECK(part.pieces[0].trainable);
  CHECK_MESSAGE(part.pieces[0].elements.data() == reinterpret_cast<const std::byte*>(memory->arena[0].get()),
                "lent, not copied");
  CHECK(values_of(part) == toy_state(3));
  SUBCASE("a repeated mark lends nothing again") {
    grant(3, {{3, mark_snapshot}});
    CHECK(parts() == steps{3});
  }
}

TEST_CASE_FIXTURE(replica_alone, "the state at the start can be saved") {
  start();
  grant(0, {{0, mark_snapshot}});
  REQUIRE(parts() == steps{0});
  CHECK(values_of(out.last<snapshot_part>()) == toy_state(0));
}

TEST_CASE_FIXTURE(replica_alone, "training goes on beside a snapshot, and does not write what is lent") {
  start();
  feed(0, 10);
  grant(6, {{2, mark_snapshot}});
  CHECK(engine->computed == first_steps(6));
  REQUIRE(parts() == steps{2});
  CHECK(values_of(out.all<snapshot_part>()[0]) == toy_state(2));

  SUBCASE("a second snapshot takes the other arena, and the step after it waits for the first one's release") {
    grant(10, {{7, mark_snapshot}});
    CHECK(engine->computed == first_steps(7));
    CHECK(parts() == steps{2, 7});
    CHECK(values_of(out.all<snapshot_part>()[0]) == toy_state(2));
    CHECK(values_of(out.all<snapshot_part>()[1]) == toy_state(7));

    SUBCASE("the release of another step does not help") {
      release(6);
      tell(worker, released{2, 2});
      CHECK(engine->computed == first_steps(7));
    }
    SUBCASE("the release of its own does, and a repeated one is harmless") {
      release(2);
      CHECK(engine->computed == first_steps(10));
      CHECK(values_of(out.all<snapshot_part>()[1]) == toy_state(7));
      release(2);
      release(7);
      grant(10, {{10, mark_snapshot}});
      CHECK(values_of(out.last<snapshot_part>()) == toy_state(10));
    }
    SUBCASE("with another writer everything lent to the first counts as released") {
      auto second = record<snapshot_part>();
      tell(worker, connect_parts{second.as<part_sink_actor>()});
      CHECK(engine->computed == first_steps(10));
      grant(10, {{10, mark_snapshot}});
      CHECK(parts() == steps{2, 7});
      REQUIRE(second.count<snapshot_part>() == 1);
      CHECK(values_of(second.last<snapshot_part>()) == toy_state(10));
    }
  }
}

TEST_CASE_FIXTURE(replica_alone, "another writer is lent the same state again") {
  start();
  feed(0, 4);
  grant(3, {{3, mark_snapshot}});
  auto second = record<snapshot_part>();
  tell(worker, connect_parts{second.as<part_sink_actor>()});
  grant(3, {{3, mark_snapshot}});
  REQUIRE(second.count<snapshot_part>() == 1);
  CHECK(values_of(second.last<snapshot_part>()) == toy_state(3));
}

TEST_CASE_FIXTURE(replica_alone, "with a single arena the step after a snapshot waits for its release") {
  engine->arena_count = 1;
  start();
  feed(0, 6);
  grant(6, {{2, mark_snapshot}});
  CHECK(engine->computed == steps{0, 1});
  CHECK(values_of(out.last<snapshot_part>()) == toy_state(2));
  release(2);
  CHECK(engine->computed == first_steps(6));
  grant(6, {{6, mark_snapshot}});
  CHECK(values_of(out.last<snapshot_part>()) == toy_state(6));
}

TEST_CASE("snapshots, however often and whenever released, do not change the results") {
  for (int64_t every : {1, 2, 3, 7}) {
    CAPTURE(every);
    replica_alone world;
    world.start();
    std::vector<mark> marks{{20, mark_snapshot}};
    for (int64_t s = every; s < 20; s += every)
      marks.push_back({s, mark_snapshot});
    world.grant(20, marks);
    for (int64_t s = 0; s < 20; s += 4)
      world.feed(s, 4);
    // Releases the snapshots in order, each when the replica waits for it.
    for (size_t i = 0; i < world.out.count<snapshot_part>(); ++i) {
      const auto part = world.out.all<snapshot_part>()[i];
      CHECK(values_of(part) == toy_state(part.step));
      world.release(part.step);
    }
    CHECK(world.parts().back() == 20);
    CHECK(world.engine->computed == first_steps(20));
    CHECK(world.engine->applied == first_steps(20));
  }
}

TEST_CASE_FIXTURE(replica_alone, "without a checkpoint writer marks hold nobody up") {
  worker = spawn(replica, options);
  tell(worker, connect_reports{out.as<report_sink_actor>()});
  tell(worker, begin{1, 0, {}});
  feed(0, 6);
  grant(6, {{0, mark_snapshot}, {2, mark_snapshot}, {4, mark_snapshot}});
  CHECK(engine->computed == first_steps(6));
  CHECK(parts().empty());
}

}  // namespace troupe::test
