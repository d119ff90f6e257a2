// Snapshots that are late, that are beyond the end, or that will never be complete.
#include "support/writer_fixture.hpp"
#include "tests/support/has.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(writer_alone,
                  "a snapshot that waited too long names the part that is missing, and frees what was lent") {
  start();
  tell(writer, chief_part(5));
  lend(5);
  tell(writer, name_missing{1, 5});
  REQUIRE(chief.count<save_failed>() == 1);
  CHECK(chief.last<save_failed>().step == 5);
  CHECK(chief.last<save_failed>().cause.category == errc::deadline_exceeded);
  CHECK(has(chief.last<save_failed>().cause.message, "step 5 still lacks the part of infeed/0"));
  CHECK(lender.count<released>() == 1);
  CHECK(listed().empty());
  SUBCASE("the part that comes after all completes nothing") {
    tell(writer, infeed_part(5));
    tell(writer, name_missing{1, 5});
    CHECK(chief.count<committed>() == 0);
    CHECK(chief.count<save_failed>() == 1);
  }
  SUBCASE("the next snapshot is none the worse") {
    save(6);
    CHECK(listed() == ids({6}));
  }
}

TEST_CASE_FIXTURE(writer_alone, "a snapshot of which no part came is overdue with all of them") {
  start();
  tell(writer, name_missing{1, 5});
  REQUIRE(chief.count<save_failed>() == 1);
  CHECK(has(chief.last<save_failed>().cause.message, "chief, infeed/0, replica/0"));
}

TEST_CASE_FIXTURE(writer_alone, "a snapshot that was committed meanwhile is not overdue") {
  start();
  save(5);
  tell(writer, name_missing{1, 5});
  CHECK(chief.count<save_failed>() == 0);
}

TEST_CASE_FIXTURE(writer_alone, "snapshots above the end are dropped without a word, and what they were lent is free") {
  start();
  tell(writer, infeed_part(4));
  tell(writer, infeed_part(8));
  lend(8);
  tell(writer, abandon{1, 6});
  CHECK(lender.count<released>() == 1);
  CHECK(lender.last<released>().step == 8);
  CHECK(chief.count<save_failed>() == 0);
  tell(writer, chief_part(4));
  lend(4);
  CHECK_MESSAGE(listed() == ids({4}), "those at or below it are still completed");
  SUBCASE("another attempt's word is not obeyed") {
    tell(writer, infeed_part(9));
    tell(writer, chief_part(9));
    tell(writer, abandon{2, 0});
    lend(9);
    CHECK(listed() == ids({4, 9}));
  }
}

TEST_CASE_FIXTURE(
    writer_alone,
    "asked to settle, the writer refuses what lacks a part that does not come any more, and completes the rest") {
  start();
  tell(writer, chief_part(4));
  tell(writer, infeed_part(4));
  tell(writer, chief_part(9));
  lend(9);
  tell(writer, gone{1, 1_node});
  CHECK_MESSAGE(chief.count<save_failed>() == 0, "while the job is well, whoever is gone may be started again");
  tell(writer, settle{1, {4, 9, 12}});
  REQUIRE(chief.count<save_failed>() == 2);
  CHECK(chief.all<save_failed>()[0].step == 9);
  CHECK(chief.all<save_failed>()[1].step == 12);
  CHECK(chief.all<save_failed>()[0].cause.category == errc::aborted);
  CHECK(has(chief.all<save_failed>()[0].cause.message, "lacks the part of infeed/0"));
  CHECK_MESSAGE(lender.count<released>() == 1, "what was lent for it is given back");
  lend(4);
  CHECK(listed() == ids({4}));
  SUBCASE("parts that come late for what was refused are given back and change nothing") {
    lend(12);
    tell(writer, infeed_part(12));
    CHECK(lender.count<released>() == 3);
    CHECK(chief.count<save_failed>() == 2);
    CHECK(listed() == ids({4}));
  }
}

TEST_CASE_FIXTURE(writer_alone, "a part that is gone when its snapshot was complete is not missed") {
  start();
  save(4);
  tell(writer, gone{1, 2_node});
  tell(writer, settle{1, {4}});
  CHECK(chief.count<committed>() == 1);
  CHECK(chief.count<save_failed>() == 0);
}

TEST_CASE_FIXTURE(writer_alone,
                  "parts of nodes that hear of a writer's stand-in before it knows the attempt are kept") {
  writer = spawn(checkpoint_writer, options, chief.as<commit_sink_actor>());
  lend(4);
  tell(writer, infeed_part(4));
  tell(writer, gone{1, 1_node});
  CHECK(lender.count<released>() == 0);
  tell(writer, stand_in{1, stored});
  CHECK(chief.count<committed>() == 0);
  SUBCASE("and committed with the others") {
    tell(writer, chief_part(4));
    REQUIRE(chief.count<committed>() == 1);
    CHECK(chief.last<committed>().id == checkpoint_id{4});
    CHECK(lender.count<released>() == 1);
  }
  SUBCASE("and who sends no other is known") {
    tell(writer, settle{1, {5}});
    REQUIRE(chief.count<save_failed>() == 1);
    CHECK(has(chief.last<save_failed>().cause.message, "lacks the part of infeed/0"));
  }
}

TEST_CASE_FIXTURE(
    writer_alone,
    "snapshots of states after a group has left are complete without its parts, after those of before, and say so") {
  stored.parts.push_back({3_node, "b/replica/0"});
  start();
  for (const int64_t step : {10, 15, 20}) {
    tell(writer, chief_part(step));
    lend(step);
  }
  tell(writer, infeed_part(10));
  tell(writer, infeed_part(15));
  CHECK(listed().empty());
  tell(writer, departed{1, 13, {{3_node}}, {{"left/b", "12 nan_loss: x"}}});
  CHECK_MESSAGE(listed().empty(), "its part of state 10 is on its way");
  SUBCASE("its last part comes") {
    tell(writer, snapshot_part{1, 10, 3_node});
    CHECK(listed() == ids({10, 15}));
    tell(writer, infeed_part(20));
    CHECK(listed() == ids({10, 15, 20}));
    CHECK(lender.count<released>() == 3);
    const auto store = checkpoint_store::open(disk, "/m", {.read_only = true});
    CHECK((*store)->restore_step(15)->content.properties.at("left/b") == "12 nan_loss: x");
    CHECK_FALSE((*store)->restore_step(10)->content.properties.contains("left/b"));
  }
  SUBCASE("it dies before that comes") {
    tell(writer, gone{1, 3_node});
    REQUIRE(chief.count<save_failed>() == 1);
    CHECK(chief.last<save_failed>().step == 10);
    CHECK(chief.last<save_failed>().cause.category == errc::aborted);
    CHECK(listed() == ids({15}));
  }
  SUBCASE("later ones can be settled though it is gone") {
    tell(writer, gone{1, 3_node});
    tell(writer, settle{1, {25}});
    CHECK(chief.count<save_failed>() == 1);  // For step 10.
    tell(writer, infeed_part(20));
    save(25);
    CHECK(listed() == ids({15, 20, 25}));
  }
  SUBCASE("an attempt begins with all groups") {
    tell(writer, restore{2, {{{}, owner}}, stored});
    tell(writer, name_missing{2, 25});
    CHECK(has(chief.last<save_failed>().cause.message, "b/replica/0"));
  }
}

TEST_CASE_FIXTURE(writer_alone, "a checkpoint that says which groups had left is restored to the others") {
  graph g;
  g.variable({.name = "b/kernel", .dims = {3}, .initial = init::ones()});
  stored.groups.front().name = "a";
  stored.groups.push_back(stored_of(*parameter_store::create(*parameter_layout::of(g, momentum{}), 2), group_id{1}));
  stored.groups.back().name = "b";
  start();  // There is no owner for group b.
  auto books = chief_part(5);
  SUBCASE("it says so") {
    books.properties["left/b"] = "3 nan_loss: the loss is not finite";
    tell(writer, books);
    tell(writer, infeed_part(5));
    scribble(1);
    lend(5);
    const auto kept = all_values();
    scribble(100);
    tell(writer, restore{2, {{{}, owner}}, stored});
    REQUIRE(chief.last<restored>().found);
    CHECK(all_values() == kept);
  }
  SUBCASE("it does not") {
    tell(writer, books);
    tell(writer, infeed_part(5));
    lend(5);
    tell(writer, restore{2, {{{}, owner}}, stored});
    CHECK(chief.last<failure>().what.category == errc::failed_precondition);
    CHECK(has(chief.last<failure>().what.message, "b/kernel"));
  }
}

}  // namespace troupe::test
