// An outfeed for several groups.
#include "support/outfeed_fixture.hpp"

namespace troupe::test {

namespace {

using by_group = std::map<std::string, group_loss>;

}  // namespace

TEST_CASE_FIXTURE(outfeed_alone,
                  "observed values are those of all shards of all replicas of each group, group after group") {
  options.groups = {{.name = "mixture",
                     .replicas = {{0_node, "m/0"}, {1_node, "m/1"}},
                     .observables = {{"rows", true}, {"mean", false}}},
                    {.name = "a", .replicas = {{2_node, "a/0"}}, .observables = {{"mean", false}}}};
  start(0);
  const auto rows = [](float x) { return tensor::of<float>({1}, {x}); };
  const auto loss = tensor::scalar(0.5f);
  report(1, 0, {1}, {{1, {loss}, {{rows(3), tensor::scalar(30.0f)}, {rows(4), tensor::scalar(60.0f)}}}});
  report(2, 0, {1}, {{1, {loss}, {{tensor::scalar(7.0f)}}}});
  CHECK(chief.count<progress>() == 0);
  report(0, 0, {1}, {{1, {loss}, {{rows(1), tensor::scalar(10.0f)}, {rows(2), tensor::scalar(20.0f)}}}});
  REQUIRE(chief.last<progress>().watched.size() == 1);
  const auto& values = chief.last<progress>().watched[0].values;
  REQUIRE(values.size() == 4);
  CHECK(values[1] == tensor::of<float>({4}, {1, 2, 3, 4}));
  CHECK(values[2] == tensor::scalar(30.0f));
  CHECK(values[3] == tensor::scalar(7.0f));
  CHECK(chief.last<progress>().watched[0].observed.empty());
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "a step of several groups is reached when all have made it, and each group reports its own loss") {
  options.groups = {{.name = "mixture", .replicas = {{0_node, "m/0"}, {1_node, "m/1"}}},
                    {.name = "a", .replicas = {{2_node, "a/0"}}}};
  options.groups[0].summaries = {{}, gradient_descent{.rate = 0.5f}};
  start(0);
  const auto recorded = [&](int32_t replica, std::vector<double> losses) {
    const auto at = static_cast<int64_t>(losses.size());
    tell(drain, step_report{1, node_id{replica}, 0, std::move(losses), {}, {{at, {}}}, 0});
  };
  recorded(0, {1, 1, 1, 5});
  recorded(1, {3, 3, 3, 7});
  CHECK(chief.count<progress>() == 0);
  recorded(2, {10, 20, 30, 40});
  const auto& p = chief.last<progress>();
  CHECK(p.step == 4);
  CHECK(p.loss.last == 6);
  CHECK(p.loss.mean == 3);
  const by_group wanted{{"mixture", {6, 3}}, {"a", {40, 25}}};
  CHECK(p.loss.of_groups == wanted);
  REQUIRE(p.logged.size() == 1);
  CHECK(p.logged[0].of_groups == wanted);
  REQUIRE(writer.count<troupe::record>() == 1);
  std::map<std::string, double> values;
  for (const auto& v : writer.last<troupe::record>().values)
    values[v.tag] = v.scalar;
  CHECK(values == std::map<std::string, double>{{"mixture/loss", 6}, {"mixture/learning_rate", 0.5}, {"a/loss", 40}});
  report(9, 4, {1});
  CHECK_MESSAGE(chief.last<progress>().step == 4, "a stranger's report is dropped");
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "groups with directories of their own record there, and the job the loss of the group that leads by "
                  "what was told for the newest save") {
  const auto in = [](const std::string& directory, bool written = true) {
    return group_summaries{.directory = directory, .own_steps_tag = "own", .written = written};
  };
  options.groups = {
      {.name = "a", .replicas = {{0_node, "a/0"}}, .where = in("ensemble/a"), .told_at_saves = {"a/loss"}},
      {.name = "b", .replicas = {{1_node, "b/0"}}, .where = in("ensemble/b", false)},
      {.name = "c", .replicas = {{2_node, "c/0"}}, .where = in("subnetwork/c"), .retires_at = 3}};
  options.leader = [](const std::map<std::string, double>& told, const std::set<std::string>& left) {
    const auto known = told.find("a/loss");
    const bool a_leads = known != told.end() && known->second < 1;
    return left.contains("a") || !a_leads ? std::optional<std::string>{"b"} : "a";
  };
  options.constants = {{"iteration", 7}};
  start(0);
  const auto recorded = [&](int32_t replica, int64_t step, std::vector<double> losses, std::vector<told_state> told) {
    const int64_t at = step + static_cast<int64_t>(losses.size());
    tell(drain, step_report{1, node_id{replica}, step, std::move(losses), {}, {{at, {}}}, 0, {}, std::move(told)});
  };
  const auto last = [&] {
    std::map<std::string, std::map<std::string, double>> all;
    const auto& r = writer.last<troupe::record>();
    for (const auto& v : r.values)
      all[""][v.tag] = v.scalar;
    for (const auto& part : r.elsewhere)
      for (const auto& v : part.values)
        all[part.directory][v.tag] = v.scalar;
    return all;
  };
  using values = std::map<std::string, std::map<std::string, double>>;
  recorded(0, 0, {1, 2}, {});
  recorded(1, 0, {3, 4}, {});
  recorded(2, 0, {5, 6}, {});
  CHECK_MESSAGE((last()
                 == values{{"", {{"loss", 4}, {"iteration", 7}}},
                           {"ensemble/a", {{"loss", 2}, {"own", 2}}},
                           {"subnetwork/c", {{"loss", 6}, {"own", 2}}}}),
                "b leads, although its own values are not written");
  advance_time(std::chrono::seconds{4});
  recorded(1, 2, {8, 8}, {});
  recorded(2, 2, {9, 9}, {});
  recorded(0, 2, {7, 7.5}, {{3, {{"a/loss", 0.5}}}});
  CHECK(last()[""] == values::mapped_type{{"loss", 7.5}, {"iteration", 7}, {"global_step/sec", 0.5}});
  CHECK_MESSAGE(last()["subnetwork/c"]["own"] == 3, "it retired at state 3");
  tell(drain, departed{1, 4, {{0_node}}});
  recorded(1, 4, {1}, {});
  recorded(2, 4, {2}, {});
  CHECK(last() == values{{"", {{"loss", 1}, {"iteration", 7}}}, {"subnetwork/c", {{"loss", 2}, {"own", 3}}}});
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "the failure of one group is passed on when all of it has said so and the others have got there") {
  options.groups = {{.name = "mixture", .replicas = {{0_node, "m/0"}}},
                    {.name = "a", .replicas = {{1_node, "a/0"}, {2_node, "a/1"}}}};
  start(0);
  const error nan{errc::nan_loss, "the loss is not finite", {}, "a/0", 2};
  for (int32_t r : {1, 2})
    report(r, 0, {1, 1});
  tell(drain, stream_end{1, 1_node, 2, nan, end_kind::failed});
  report(0, 0, {1});
  CHECK(chief.count<stream_end>() == 0);
  report(0, 1, {1});
  CHECK_MESSAGE(chief.count<stream_end>() == 0, "one replica of the group has not said so");
  tell(drain, stream_end{1, 2_node, 2, nan, end_kind::failed});
  REQUIRE(chief.count<stream_end>() == 1);
  CHECK(chief.last<stream_end>().cause == nan);
  CHECK(chief.last<progress>().step == 2);
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "the failure of one group is passed on by the report with which the others have got there") {
  options.groups = {{.name = "mixture", .replicas = {{0_node, "m/0"}}}, {.name = "a", .replicas = {{1_node, "a/0"}}}};
  start(0);
  report(1, 0, {1, 1});
  tell(drain, stream_end{1, 1_node, 2, {errc::nan_loss, "the loss is not finite"}, end_kind::failed});
  report(0, 0, {1});
  CHECK(chief.count<stream_end>() == 0);
  report(0, 1, {1});
  CHECK(chief.count<stream_end>() == 1);
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "a group that has left is not awaited any more, has no loss, and its end is not the job's") {
  options.groups = {{.name = "mixture", .replicas = {{0_node, "m/0"}}},
                    {.name = "a", .replicas = {{1_node, "a/0"}, {2_node, "a/1"}}},
                    {.name = "b", .replicas = {{3_node, "b/0"}}}};
  for (auto& g : options.groups)
    g.outputs = {{.type = dtype::float32}};
  start(0);
  report(0, 0, {1, 1, 1, 1});
  report(3, 0, {5, 5, 5, 5});
  for (int32_t r : {1, 2}) {
    report(r, 0, {9, 9});
    tell(drain, stream_end{1, node_id{r}, 2, {errc::nan_loss, "the loss is not finite"}, end_kind::failed});
  }
  CHECK(chief.last<progress>().step == 2);
  CHECK(chief.last<progress>().loss.of_groups == by_group{{"mixture", {1, 1}}, {"a", {9, 9}}, {"b", {5, 5}}});
  REQUIRE(chief.count<stream_end>() == 1);
  report(0, 4, {1}, {{5, {tensor::scalar(0.0f)}}});
  report(3, 4, {5});
  tell(drain, departed{1, 3, {{1_node}, {2_node}}});
  CHECK(chief.last<progress>().step == 5);
  CHECK(chief.last<progress>().loss.of_groups == by_group{{"mixture", {1, 1}}, {"b", {5, 5}}});
  CHECK(chief.last<progress>().logged.back().of_groups == by_group{{"mixture", {1, 1}}, {"b", {5, 5}}});
  REQUIRE(chief.last<progress>().watched.size() == 1);
  const auto& values = chief.last<progress>().watched[0].values;
  REQUIRE_MESSAGE(values.size() == 3, "the loss of each group");
  CHECK(values[0] == tensor::scalar(1.0f));
  CHECK_MESSAGE(values[1] == tensor{}, "that of a group that has left is empty");
  CHECK(values[2] == tensor::scalar(5.0f));
  end(3, 5);
  end(0, 5);
  REQUIRE_MESSAGE(chief.count<stream_end>() == 2, "the end of the data is told after that of the group");
  CHECK(chief.last<stream_end>().step == 5);
  tell(drain, departed{2, 3, {{0_node}}});
  report(3, 5, {5});
  CHECK_MESSAGE(chief.last<progress>().step == 5, "another attempt's word is not obeyed");
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "the next group gives the number, the watched steps and the speed once the first has left, and no "
                  "state is shown twice") {
  options.groups = {{.name = "a", .replicas = {{0_node, "a/0"}}}, {.name = "b", .replicas = {{1_node, "b/0"}}}};
  for (auto& g : options.groups)
    g.outputs = {{.type = dtype::float32}};
  start(0);
  const auto made = [&](int32_t replica, int64_t step, double loss) {
    tell(drain,
         step_report{1, node_id{replica}, step, {loss}, {{step + 1, {tensor::scalar(0.0f)}}}, {{step + 1, {}}}, 0});
  };
  made(0, 0, 1);
  made(1, 0, 5);
  CHECK(chief.last<progress>().loss.mean == 1);
  made(1, 1, 6);
  tell(drain, stream_end{1, 0_node, 1, {errc::nan_loss, "the loss is not finite"}, end_kind::failed});
  REQUIRE(chief.count<stream_end>() == 1);
  advance_time(std::chrono::seconds{1});
  tell(drain, departed{1, 2, {{0_node}}});
  CHECK(chief.last<progress>().step == 2);
  CHECK(chief.last<progress>().loss.mean == 6);
  CHECK(chief.last<progress>().loss.of_groups == by_group{{"b", {6, 6}}});
  REQUIRE(chief.last<progress>().watched.size() == 1);
  CHECK(chief.last<progress>().watched[0].step == 2);
  CHECK(chief.last<progress>().watched[0].values == std::vector<tensor>{tensor{}, tensor::scalar(6.0f)});
  std::map<std::string, double> values;
  for (const auto& v : writer.last<troupe::record>().values)
    values[v.tag] = v.scalar;
  CHECK(values == std::map<std::string, double>{{"b/loss", 6}, {"global_step/sec", 1}});
  tell(drain, departed{1, 3, {{1_node}}});
  made(1, 2, 6);
  CHECK_MESSAGE(chief.last<progress>().step == 2, "nobody is left");
}

}  // namespace troupe::test
