// A chief, one of whose groups leaves, with stand-ins for its nodes.
#include "support/chief_fixture.hpp"

namespace troupe::test {

namespace {

/// Node 2 is the replica of group a, nodes 4 and 5 are those of group b. The job is at step 19.
struct chief_of_groups : chief_alone {
  chief_of_groups() {
    agent->listed[2].name = "a/replica/0";
    for (int32_t r = 0; r < 2; ++r)
      agent->listed.push_back({node_id{4 + r}, role::replica, group_id{1}, "b/replica/" + std::to_string(r)});
    options.groups = {{group_id{0}, "a"}, {group_id{1}, "b", leaves_on::numbers_and_death}};
  }
  void go_to_19() {
    train();
    commit(0);
    reach_up_to(19);
    commit(10);
  }
  void fail_b(errc category = errc::nan_loss) {
    tell(boss,
         stream_end{1, 4_node, 19, {category, "the loss is not finite", {}, "b/replica/0", 19}, end_kind::failed});
  }
  /// The properties that the checkpoint writer received for groups that have left.
  std::map<std::string, std::string> books() {
    std::map<std::string, std::string> all;
    for (const auto& d : node(role::checkpoint_writer).all<departed>())
      all.insert(d.properties.begin(), d.properties.end());
    return all;
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    chief_of_groups,
    "a group whose numbers are not finite leaves its edges, reports and snapshots, and training goes on") {
  go_to_19();
  const auto runs_of_b = agent->nodes.at(4_node).count<troupe::run>();
  fail_b();
  CHECK(phase() == job_progress::phase::training);
  for (const auto what : {role::outfeed, role::checkpoint_writer}) {
    REQUIRE(node(what).count<departed>() == 1);
    CHECK(node(what).last<departed>().first_state == 20);
    CHECK(node(what).last<departed>().replicas == std::vector<named_node>{{4_node}, {5_node}});
  }
  CHECK(books().contains("left/b"));
  CHECK(board->warned());
  fail_b();
  CHECK_MESSAGE(node(role::outfeed).count<departed>() == 1, "an end that is said twice is one");
  reach_up_to(40);
  CHECK(node(role::replica).last<troupe::run>().until > 40);
  CHECK_MESSAGE(agent->nodes.at(4_node).count<troupe::run>() == runs_of_b, "no horizon is told to those who have left");
  reached_so_far = 40;
  committed_so_far = {0, 10};
  let_finish();
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->global_step == 100);
  CHECK((*board->result)->remark.starts_with("group 'b' left at step 19: "));
}

TEST_CASE_FIXTURE(chief_of_groups,
                  "a group that falls with another is gone with it at once, in the same books, and hears nothing") {
  agent->listed.push_back({6_node, role::replica, group_id{2}, "c/replica/0"});
  options.groups.push_back({group_id{2}, "c", leaves_on::never, {group_id{1}}});
  go_to_19();
  const auto runs_of_c = agent->nodes.at(6_node).count<troupe::run>();
  fail_b();
  CHECK(node(role::outfeed).count<departed>() == 2);
  CHECK(node(role::checkpoint_writer).last<departed>().replicas == std::vector<named_node>{{6_node}});
  CHECK(books().contains("left/b"));
  CHECK(books().at("left/c") == "19 cancelled: it falls with group 'b'");
  reach_up_to(40);
  CHECK(agent->nodes.at(6_node).count<troupe::run>() == runs_of_c);
}

TEST_CASE_FIXTURE(chief_of_groups,
                  "once the last group has left the job fails with the first cause, whichever group is shown first") {
  options.groups[0].leaves = leaves_on::numbers;
  go_to_19();
  tell(boss,
       stream_end{
           1, 2_node, 19, {errc::nan_loss, "the gradient is not finite", {}, "a/replica/0", 19}, end_kind::failed});
  CHECK(phase() == job_progress::phase::training);
  reach(20);
  tell(boss,
       stream_end{1, 4_node, 20, {errc::nan_loss, "the loss is not finite", {}, "b/replica/0", 20}, end_kind::failed});
  let_finish();
  REQUIRE_FALSE(board->result->has_value());
  CHECK(board->result->error().category == errc::nan_loss);
  CHECK(board->result->error().message.starts_with(
      "every group has left the job, group 'a' as the first: nan_loss: the gradient is not finite"));
}

TEST_CASE_FIXTURE(chief_of_groups, "an evaluation of a group that has left ends with it, and another one goes on") {
  add(role::evaluator);
  add(role::evaluator);
  options.evaluations = {{.name = "of b", .throttle_secs = 0, .groups = {group_id{1}}},
                         {.name = "of a", .throttle_secs = 0, .groups = {group_id{0}}}};
  agent->listed[agent->listed.size() - 1].name = "evaluator/a";
  train();
  commit(0);
  const auto evaluate = [&](size_t which, int64_t step) {
    tell(boss, evaluated{.id = {step},
                         .ok = true,
                         .metrics = {{"loss", 1}, {"global_step", static_cast<double>(step)}},
                         .evaluation = static_cast<int32_t>(which)});
  };
  reach_up_to(10);
  commit(10);
  for (const size_t which : {0, 1}) {
    REQUIRE(nth(role::evaluator, which).count<evaluate_at>() == 1);
    evaluate(which, 10);
  }
  reach_up_to(15);
  tell(boss,
       stream_end{1, 4_node, 15, {errc::nan_loss, "the loss is not finite", {}, "b/replica/0", 15}, end_kind::failed});
  const auto warned_of = std::count_if(board->events.begin(), board->events.end(), [](const job_event& e) {
    return e.text == "the evaluation 'of b' ends with a group that it evaluates: group 'b' left at step 15: "
                     "nan_loss: the loss is not finite "
                     "(b/replica/0, step 15)";
  });
  CHECK(warned_of == 1);
  reach_up_to(20);
  commit(20);
  CHECK(nth(role::evaluator, 0).count<evaluate_at>() == 1);
  CHECK(nth(role::evaluator, 1).count<evaluate_at>() == 2);
  evaluate(1, 20);
  CHECK_MESSAGE(granted() > 20, "nobody waits for the other");
}

TEST_CASE_FIXTURE(chief_of_groups,
                  "what is not the group's alone ends the job, as do the numbers of a group whose policy is to fail") {
  SUBCASE("bad input") {
    go_to_19();
    fail_b(errc::invalid_argument);
  }
  SUBCASE("the other policy") {
    options.groups[1].leaves = leaves_on::never;
    go_to_19();
    fail_b();
  }
  CHECK(node(role::outfeed).count<departed>() == 0);
  CHECK(board->events.back().what == job_event::kind::failed);
}

TEST_CASE_FIXTURE(chief_of_groups,
                  "a group that had left when the checkpoint was made does not begin, and is gone from the start") {
  start();
  tell(boss, restored{1,
                      true,
                      {30},
                      "/m/model.ckpt-30",
                      {{"infeed/0", "batch 30"}},
                      {{"left/b", "12 nan_loss: the loss is not finite"}},
                      {}});
  CHECK(node(role::replica).count<begin>() == 1);
  CHECK(agent->nodes.at(4_node).count<begin>() == 0);
  CHECK(node(role::checkpoint_writer).last<departed>().first_state == 13);
  CHECK(books().contains("left/b"));
}

TEST_CASE_FIXTURE(chief_of_groups, "a group retires where the plan says, in every attempt before its first grant") {
  options.groups[1].retires_at = 40;
  train();
  for (const auto id : {4_node, 5_node}) {
    REQUIRE(agent->nodes.at(id).count<retire>() == 1);
    CHECK(agent->nodes.at(id).last<retire>().step == 40);
  }
  CHECK(node(role::replica).count<retire>() == 0);
}

}  // namespace troupe::test
