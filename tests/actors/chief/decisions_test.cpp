#include "actors/chief/decisions.hpp"

#include "actors/chief/failures.hpp"
#include "tests/support/has.hpp"
#include "words/need.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {
constexpr int64_t never = INT64_MAX;
}

TEST_CASE("what happens every so many steps happens on exact multiples") {
  CHECK(next_multiple(0, 100) == 100);
  CHECK(next_multiple(99, 100) == 100);
  CHECK(next_multiple(100, 100) == 200);
  CHECK(next_multiple(5, 1) == 6);
  CHECK(next_multiple(5, std::nullopt) == never);
  CHECK(next_multiple(5, 0) == never);
}

TEST_CASE("a need names its first state, then every so many after it") {
  const need once{.first = 7}, often{.first = 7, .every = 10};
  CHECK(next_need(0, once) == 7);
  CHECK(next_need(6, once) == 7);
  CHECK(next_need(7, once) == never);
  CHECK(next_need(0, often) == 7);
  CHECK(next_need(7, often) == 17);
  CHECK(next_need(16, often) == 17);
  CHECK(next_need(17, often) == 27);
  CHECK_MESSAGE(next_need(-1, need{.first = 0, .every = 5}) == 0, "the state at the start can be one");
}

TEST_CASE("the horizon lies two blocks ahead, or 200 ms where that is more") {
  CHECK(horizon_ahead(1, 0) == 2);
  CHECK(horizon_ahead(0, 0) == 2);
  CHECK(horizon_ahead(8, 0) == 16);
  CHECK(horizon_ahead(8, 0.001) == 200);
  CHECK(horizon_ahead(8, 0.1) == 16);
  CHECK(horizon_ahead(8, 1e9) == 16);
  CHECK(horizon_ahead(1, 1e-300) > 0);
}

TEST_CASE("an evaluation is due at first, after the throttle, and at the end") {
  CHECK(evaluation_due(std::nullopt, 600, false));
  CHECK_FALSE(evaluation_due(599, 600, false));
  CHECK(evaluation_due(600, 600, false));
  CHECK(evaluation_due(0, 0, false));
  CHECK(evaluation_due(1, 600, true));
}

TEST_CASE("[DF-48] an input's not_found outranks the cancellation that follows, whichever was recorded first") {
  const error input{errc::not_found, "the file of record 5 has gone", {}, "infeed/0", 5};
  const error cancelled{errc::cancelled, "the replica was cancelled", {}, "replica/0"};
  const error aborted{errc::aborted, "the outfeed ended", {}, "outfeed"};
  for (const auto& order : std::vector<std::vector<error>>{
           {cancelled, aborted, input}, {input, aborted, cancelled}, {aborted, input, cancelled}}) {
    const auto root = root_cause(order);
    CHECK(root.category == errc::not_found);
    CHECK(root.source == "infeed/0");
    CHECK(root.step == 5);
    CHECK(root.notes.size() == 2);
  }
  CHECK(root_cause(std::vector{cancelled, aborted, input}).notes == std::vector{to_text(cancelled), to_text(aborted)});
}

TEST_CASE("a cancellation is the cause only where there is nothing else") {
  const error cancelled{errc::cancelled, "one"}, other{errc::cancelled, "two"}, unavailable{errc::unavailable, "three"},
      aborted{errc::aborted, "four"};
  CHECK(root_cause(std::vector{cancelled, other}).message == "one");
  CHECK(root_cause(std::vector{cancelled, unavailable, aborted}).message == "three");
  CHECK(root_cause(std::vector{aborted, unavailable}).message == "four");
}

TEST_CASE("of several errors of one weight the earliest is the cause") {
  const error first{errc::nan_loss, "a"}, second{errc::data_loss, "b"};
  CHECK(root_cause(std::vector{first, second}).message == "a");
  CHECK(root_cause(std::vector{second, first}).message == "b");
}

TEST_CASE("[DF-51] of two errors from one source the earlier is the cause, and the later is its note") {
  const error first{errc::data_loss, "record 5 has a wrong checksum", {}, "infeed/0", 5},
      second{errc::not_found, "part 2 is gone", {}, "infeed/0", 6};
  CHECK(root_cause(std::vector{first, second}).message == first.message);
  CHECK(root_cause(std::vector{first, second}).notes == std::vector{to_text(second)});
}

TEST_CASE("the cause keeps its own notes first, and no error becomes a note twice") {
  const error root{errc::data_loss, "a", {"its own"}}, aborted{errc::aborted, "b"};
  CHECK(root_cause(std::vector{aborted, root, aborted}).notes == std::vector<std::string>{"its own", to_text(aborted)});
  CHECK(root_cause(std::vector{root}).notes == std::vector<std::string>{"its own"});
}

TEST_CASE("a wait that was in vain is not the cause of what had failed before it") {
  const error died{errc::aborted, "replica/0 ended"}, late{errc::deadline_exceeded, "waited too long"},
      input{errc::data_loss, "a"};
  CHECK(root_cause(std::vector{died, late}).message == "replica/0 ended");
  CHECK(root_cause(std::vector{late, died}).message == "waited too long");
  CHECK(root_cause(std::vector{late, input}).message == "a");
}

TEST_CASE("two progress events are joined to the newer, with the mean over the steps of both") {
  job_event older{.step = 20, .loss = 4}, newer{.step = 50, .loss = 2};
  const auto both = joined(10, older, newer);
  CHECK(both.step == 50);
  CHECK(both.loss == doctest::Approx(2.5));
}

TEST_CASE("infeeds go on at their own positions; where their number differs, at the one that all have") {
  using positions = std::map<std::string, std::string>;
  const plan_node first{.name = "infeed/0"}, second{.name = "infeed/1", .index = 1};
  const positions two{{"infeed/0", "a"}, {"infeed/1", "b"}}, same{{"infeed/0", "a"}, {"infeed/1", "a"}};
  const auto with_books = [](positions p) {
    p["books"] = "c";
    return p;
  };
  CHECK(positions_for("m", with_books(two), {&first, &second}) == two);
  CHECK(positions_for("m", with_books(same), {&first}) == positions{{"infeed/0", "a"}});
  CHECK(positions_for("m", with_books({{"infeed/0", "a"}}), {&first, &second}) == same);
  const auto fewer = positions_for("m/model.ckpt-5", with_books(two), {&first});
  REQUIRE_FALSE(fewer);
  CHECK(fewer.error().category == errc::failed_precondition);
  CHECK(fewer.error().message.starts_with("m/model.ckpt-5 has the data positions of 2 infeeds, the job has 1, and"));
  const auto none = positions_for("m/model.ckpt-5", {}, {&first});
  REQUIRE_FALSE(none);
  CHECK(has(none.error().message, "of 0 infeeds, the job has 1 (infeed/0 is missing)"));
}

TEST_CASE("the position of a group's own data is missed by its name, and one that nobody reads is not in the way") {
  const plan_node main{.name = "infeed/0"},
      own{.name = "infeed/t1_b", .own = own_data_of{group_id{1}, "the builder 'b'"}};
  const std::map<std::string, std::string> two{{"infeed/0", "a"}, {"own/infeed/t1_b", "b"}};
  CHECK(positions_for("m/model.ckpt-5", two, {&main, &own}) == two);
  CHECK(positions_for("m/model.ckpt-5", two, {&main}));
  const auto lacks = positions_for("m/model.ckpt-5", {{"infeed/0", "a"}, {"own/infeed/t1_a", "c"}}, {&main, &own});
  REQUIRE_FALSE(lacks);
  CHECK(lacks.error().category == errc::failed_precondition);
  CHECK(has(lacks.error().message,
            "m/model.ckpt-5 has no position of the data of the builder 'b' (own/infeed/t1_b): it had no train_input"));
}

TEST_CASE(
    "a job begins where it was planned to, or at another checkpoint of the same iteration, and is refused without "
    "one") {
  const auto found = [](checkpoint_id id) {
    return restored{1, true, id, "/m/model.ckpt-" + to_string(id), {}, {}, {}};
  };
  CHECK(check_origin({}, restored{}));
  CHECK(check_origin({}, found({10})));
  CHECK(check_origin(checkpoint_id{10}, found({10})));
  CHECK_MESSAGE(check_origin(checkpoint_id{10}, found({5})), "the newest is damaged");
  CHECK_MESSAGE(check_origin(checkpoint_id{10}, found({15})), "another process has gone on");
  const auto gone = check_origin(checkpoint_id{10}, restored{1, false, {}, "", {}, {}, {}});
  REQUIRE_FALSE(gone);
  CHECK(gone.error().category == errc::failed_precondition);
  CHECK(gone.error().message == "the job was planned from the checkpoint of step 10, and no checkpoint is there "
                                "any more: another process has "
                                "changed the directory meanwhile; start the job again");
  CHECK_FALSE(check_origin(checkpoint_id{10, 1}, found({10, 2})));
}

}  // namespace troupe::test
