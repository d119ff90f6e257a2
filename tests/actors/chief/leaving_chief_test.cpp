// A group that leaves, by a chief among stand-ins.
#include "support/chief_fixture.hpp"

namespace troupe::test {

namespace {

/// Node 2 is the replica of the first group, nodes 4 and 5 those of group b; the job stands at step 19.
struct chief_of_groups : chief_alone {
  chief_of_groups() {
    crew->plan[2].name = "a/replica/0";
    for (int32_t r = 0; r < 2; ++r)
      crew->plan.push_back({node_id{4 + r}, role::replica, group_id{1}, "b/replica/" + std::to_string(r)});
    options.groups = {{group_id{0}, "a"}, {group_id{1}, "b", leaves_on::numbers_and_death}};
  }
  void go_to_19() {
    train();
    commit(0);
    while (granted() < 19)
      reach(granted());
    reach(19);
    commit(10);
  }
  void fail_b(errc category = errc::nan_loss) {
    tell(boss, stream_end{1, 4_node, 19, {category, "the loss is not finite", {}, "b/replica/0", 19}, end_kind::failed});
  }
  /// The chief's part of state `step` that the checkpoint writer received last.
  std::map<std::string, std::string> books(int64_t step) {
    std::map<std::string, std::string> last;
    for (const auto& p : node(role::checkpoint_writer).all<snapshot_part>())
      if (p.step == step)
        last = p.properties;
    return last;
  }
};

}  // namespace

TEST_CASE_FIXTURE(chief_of_groups, "a group whose numbers are not finite leaves its edges, reports and snapshots, and training goes on") {
  go_to_19();
  const auto runs_of_b = crew->nodes.at(4_node).count<troupe::run>();
  fail_b();
  CHECK(phase() == job_progress::phase::training);
  CHECK(crew->removed == std::vector<std::pair<group_id, int64_t>>{{group_id{1}, 19}});
  for (const auto what : {role::outfeed, role::checkpoint_writer}) {
    REQUIRE(node(what).count<departed>() == 1);
    CHECK(node(what).last<departed>().first_state == 20);
    CHECK(node(what).last<departed>().replicas == std::vector<departed::replica>{{4_node}, {5_node}});
  }
  CHECK_MESSAGE(books(20).contains("left/b"), "books that were sent ahead are sent again");
  CHECK_FALSE(books(10).contains("left/b"));
  CHECK(board->warned());
  fail_b();
  CHECK_MESSAGE(crew->removed.size() == 1, "an end that is said twice is one");
  reach(20);
  reach(40);
  CHECK(node(role::replica).last<troupe::run>().until > 40);
  CHECK_MESSAGE(crew->nodes.at(4_node).count<troupe::run>() == runs_of_b, "no horizon is told to those who have left");
  reached_so_far = 40;
  committed_so_far = {0, 10};
  let_finish();
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->global_step == 100);
  CHECK((*board->result)->remark.starts_with("group 'b' left at step 19: "));
}

TEST_CASE_FIXTURE(chief_of_groups, "what is not the group's alone ends the job, as do the numbers of a group whose policy is to fail") {
  SUBCASE("bad input") {
    go_to_19();
    fail_b(errc::invalid_argument);
  }
  SUBCASE("the other policy") {
    options.groups[1].leaves = leaves_on::never;
    go_to_19();
    fail_b();
  }
  CHECK(crew->removed.empty());
  CHECK(board->events.back().what == job_event::kind::failed);
}

TEST_CASE_FIXTURE(chief_of_groups, "a group that had left when the checkpoint was made does not begin, and is gone from the start") {
  start();
  tell(boss, restored{1, true, {30}, "/m/model.ckpt-30", {{"infeed/0", "batch 30"}}, {{"left/b", "12 nan_loss: the loss is not finite"}}, {}});
  CHECK(node(role::replica).count<begin>() == 1);
  CHECK(crew->nodes.at(4_node).count<begin>() == 0);
  CHECK(crew->removed == std::vector<std::pair<group_id, int64_t>>{{group_id{1}, 12}});
  CHECK(node(role::checkpoint_writer).last<departed>().first_state == 13);
  CHECK(books(30).contains("left/b"));
}

TEST_CASE_FIXTURE(chief_of_groups, "a group retires where the plan says, in every attempt before its first grant") {
  options.groups[1].retires_at = 40;
  train();
  for (const auto id : {4_node, 5_node}) {
    REQUIRE(crew->nodes.at(id).count<retire>() == 1);
    CHECK(crew->nodes.at(id).last<retire>().step == 40);
  }
  CHECK(node(role::replica).count<retire>() == 0);
}

}  // namespace troupe::test
