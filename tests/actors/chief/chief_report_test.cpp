#include "support/chief_fixture.hpp"

namespace troupe::test {

namespace {

const actor_report* find_in(const job_report& all, const std::string& name) {
  const auto found = std::find_if(all.actors.begin(), all.actors.end(),
                                  [&name](const actor_report& a) { return a.name == name; });
  return found == all.actors.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE_FIXTURE(chief_alone, "a report has what every node has said of its time, and the chief's own") {
  add(role::callbacks);
  train();
  tell(boss, request{request::report});
  CHECK(board->reports.empty());
  const auto number = node(role::replica).last<probe>().number;
  for (const auto& m : agent->listed) {
    REQUIRE(agent->nodes.at(m.id).count<probe>() == 1);
    activity_counts spent{.busy_ns = 2'000'000'000, .messages = 7, .bytes = 80};
    spent.waiting_ns = {1'000'000'000, 0, 500'000'000, 0, 0};
    tell(boss, standing{number, m.name, {}, spent});
  }
  REQUIRE(board->reports.size() == 1);
  const auto& all = board->reports.front();
  CHECK(all.actors.size() == agent->listed.size() + 1);
  for (const auto& m : agent->listed) {
    const auto* a = find_in(all, m.name);
    REQUIRE(a);
    CHECK(a->answered);
    CHECK(a->role == to_string(m.what));
    CHECK(a->busy_seconds == 2);
    CHECK(a->waiting_seconds == actor_report::waits{.input = 1, .room = 0.5});
    CHECK(a->messages == 7);
    CHECK(a->bytes == 80);
  }
  REQUIRE(find_in(all, "chief"));
  CHECK(find_in(all, "chief")->messages > 0);
}

TEST_CASE_FIXTURE(chief_alone, "a node that does not answer within a second is said to be busy, and training goes on") {
  train();
  tell(boss, request{request::report});
  const auto number = node(role::replica).last<probe>().number;
  tell(boss, standing{number, "outfeed", {}, {.busy_ns = 1}});
  let_pass(std::chrono::milliseconds{900});
  CHECK(board->reports.empty());
  let_pass(std::chrono::milliseconds{2'000});
  REQUIRE(board->reports.size() == 1);
  const auto& all = board->reports.front();
  CHECK(find_in(all, "outfeed")->answered);
  CHECK_FALSE(find_in(all, "replica")->answered);
  CHECK_FALSE(find_in(all, "checkpoint_writer")->answered);
  CHECK(phase() == job_progress::phase::training);
  SUBCASE("it is not asked again before it has answered, and a late answer is not that of the next question") {
    tell(boss, request{request::report});
    CHECK(node(role::replica).count<probe>() == 1);
    CHECK(node(role::outfeed).count<probe>() == 2);
    tell(boss, standing{number, "replica", {}, {}});
    let_pass(std::chrono::milliseconds{2'000});
    REQUIRE(board->reports.size() == 2);
    CHECK_FALSE(find_in(board->reports.back(), "replica")->answered);
    tell(boss, request{request::report});
    CHECK(node(role::replica).count<probe>() == 2);
  }
}

TEST_CASE_FIXTURE(chief_alone,
                  "a paused job reports too, though a node does not answer, and its other waits stand still") {
  train();
  tell(boss, request{request::pause});
  tell(boss, request{request::report});
  let_pass(std::chrono::milliseconds{2'000});
  CHECK(board->reports.size() == 1);
  let_pass(10 * options.deadlines.silence);
  CHECK(phase() == job_progress::phase::training);
  CHECK(node(role::replica).count<probe>() == 1);
  tell(boss, request{request::resume});
  let_pass(options.deadlines.silence + std::chrono::seconds{2});
  CHECK(node(role::replica).count<probe>() == 2);
}

TEST_CASE_FIXTURE(chief_alone, "two requests at once get one report, and each node is asked once") {
  train();
  tell(boss, request{request::report});
  tell(boss, request{request::report});
  CHECK(node(role::replica).count<probe>() == 1);
  let_pass(std::chrono::milliseconds{3'000});
  CHECK(board->reports.size() == 1);
}

TEST_CASE_FIXTURE(chief_alone, "a report is not taken for the answer to a silence, nor the other way round") {
  train();
  tell(boss, request{request::report});
  const auto of_report = node(role::replica).last<probe>().number;
  let_pass(std::chrono::milliseconds{2'000});
  CHECK(board->reports.size() == 1);
  let_pass(options.deadlines.silence + std::chrono::seconds{1});
  const auto of_silence = node(role::replica).last<probe>().number;
  REQUIRE(of_silence != of_report);
  for (const auto* who : {"replica", "infeed", "outfeed"})
    tell(boss, standing{of_report, who, {}, {}});
  CHECK(phase() == job_progress::phase::training);
  for (const auto* who : {"replica", "infeed", "outfeed"})
    tell(boss, standing{of_silence, who, {}, {}});
  CHECK(phase() != job_progress::phase::training);
  CHECK(board->reports.size() == 1);
}

}  // namespace troupe::test
