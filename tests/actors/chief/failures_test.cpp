// How a chief responds when a node dies, hangs or fails: the log of causes, and each row of the failure table.
#include "actors/chief/failures.hpp"

#include "support/chief_fixture.hpp"
#include "tests/support/has.hpp"

#include <fstream>

namespace troupe::test {

namespace {

/// One cell of the table of roles: a role, its trouble and the chief's response.
struct failure_rule {
  role who;
  trouble what;
  response then;
};

std::vector<failure_rule> failure_rules() {
  std::vector<failure_rule> all;
  for (const auto& row : role_rows())
    for (const auto what : {trouble::dies, trouble::hangs, trouble::throws})
      if (const auto then = row.to(what))
        all.push_back({row.what, what, *then});
  return all;
}

/// Trains to step 2 while the save of step 0 is in progress, then meets the trouble of one row.
struct failing_chief : chief_alone {
  explicit failing_chief(bool go_on = false) {
    for (const auto what : {role::reducer, role::summary_writer, role::evaluator, role::eval_summary_writer,
                            role::callbacks, role::checkpoint_watcher})
      add(what);
    options.max_steps = 1'000;
    options.evaluations = {{.throttle_secs = 0,
                            .when = evaluation_mode::beside,
                            .on_failure = go_on ? failure_policy::go_on : failure_policy::fail}};
    start();
    tell(boss, restored{1, false, {0}, "", {}, {}, {}});
    answer_hooks({.steps = {{.first = 4, .every = 0, .gate = true}}});
    reach(2);
    answer_hooks();
  }

  void meet(const failure_rule& rule) {
    const error cause{errc::data_loss, "as the row says", {}, std::string{to_string(rule.who)}, 1};
    if (rule.what == trouble::dies) {
      kill(rule.who);
      if (rule.then == response::settle_and_fail || rule.then == response::recover_or_fail)
        answer_flush();
      return;
    }
    if (rule.what == trouble::throws)
      return say(rule.who, cause);
    switch (rule.who) {
      case role::checkpoint_writer: return keep_on(std::chrono::seconds{30 + 1 + 3 + 1}, false);
      case role::evaluator: evaluate(10); return keep_on(std::chrono::seconds{41}, true);
      case role::eval_summary_writer:
        for (int64_t step = 10; step <= 60; step += 10) {
          evaluate(step);
          if (node(role::evaluator).last<evaluate_at>().which.step == step)
            tell(boss,
                 evaluated{1, {step}, true, {{"loss", 0.5}}, 1, 0.1, {}, "/m/model.ckpt-" + std::to_string(step)});
        }
        return keep_on(std::chrono::seconds{31}, true);
      case role::callbacks: pass_gate(false); return let_pass(std::chrono::seconds{6});
      default: return let_pass(std::chrono::seconds{20 + 1 + 3 + 1});  // No node reports progress.
    }
  }
  void say(role who, const error& cause) {
    switch (who) {
      case role::infeed: return tell(boss, input_failed{1, 3_node, 1, cause});
      case role::replica: return tell(boss, stream_end{1, 2_node, 2, cause, end_kind::failed});
      case role::evaluator: evaluate(10); return tell(boss, evaluated{1, {10}, false, {}, 0, 0.1, cause, ""});
      default: return tell(boss, failure{1, number_of(who), cause});
    }
  }
  void pass_gate(bool answered) {
    while (granted() < 4)
      reach(granted());
    tell(boss, progress{1, 4, 1, 0.001, {4, 0.5, 0.5, {}}, {}, {{4, {}}}});
    if (answered)
      answer_hooks();
  }
  /// Commits `step`, so that an evaluation of it is due.
  void evaluate(int64_t step) {
    if (granted() <= 4)
      pass_gate(true);
    while (granted() < step)
      reach(granted());
    reach(step);
    commit(step);
    answer_hooks();
  }
  /// Lets training go on for `time`, with or without commits.
  void keep_on(std::chrono::seconds time, bool saves) {
    if (granted() <= 4)
      pass_gate(true);
    for (auto t = std::chrono::seconds{0}; t < time; ++t) {
      if (trains())
        reach(granted());
      for (const auto step : marked(mark_snapshot))
        if (saves && committed_so_far.insert(step).second)
          commit(step);
      answer_hooks();
      let_pass(std::chrono::seconds{1});
    }
  }
  bool trains() const { return phase() == job_progress::phase::training; }

  // These show which response the chief has chosen.
  bool saved_last() { return !marked(mark_end | mark_snapshot).empty(); }
  bool settled() {
    return node(role::checkpoint_writer).count<settle>() > 0 || board->result
           || node(role::summary_writer).count<finish_log>() > 0;
  }
  int writers_started() const {
    return static_cast<int>(std::count(agent->started.begin(), agent->started.end(), 0_node));
  }
};

std::string line_of(const failure_rule& r) {
  return "| " + std::string{r.who == role::eval_summary_writer ? "summary_writer of evaluations" : to_string(r.who)}
         + " | " + std::string{to_string(r.what)} + " | " + std::string{to_string(r.then)} + " |";
}

}  // namespace

TEST_CASE("every row of the failure table is what a chief does") {
  for (const auto& rule : failure_rules())
    for (const bool go_on : {false, true}) {
      if (go_on && rule.then != response::by_policy)
        continue;
      CAPTURE(line_of(rule));
      CAPTURE(go_on);
      failing_chief c{go_on};
      c.meet(rule);
      const auto then = rule.then == response::by_policy && !go_on ? response::save_and_fail : rule.then;
      switch (then) {
        case response::save_and_fail:
          CHECK(c.saved_last());
          CHECK(c.phase() == job_progress::phase::draining);
          CHECK(c.writers_started() == 1);
          break;
        case response::replace_and_fail:
          CHECK(c.writers_started() == 2);
          CHECK(c.node(role::checkpoint_writer).order().front() == caf::type_id<stand_in>::value);
          CHECK(c.saved_last());
          break;
        case response::settle_and_fail:
        case response::recover_or_fail:  // The job may not recover.
          CHECK_FALSE(c.saved_last());
          CHECK(c.agent->cancelled > 0);
          CHECK(c.settled());
          break;
        case response::by_policy:
          CHECK(c.board->warned());
          CHECK(c.trains());
          CHECK_FALSE(c.board->result);
          break;
      }
    }
}

TEST_CASE_FIXTURE(chief_alone,
                  "[DF-51] the end of a source that has failed does not erase its error, nor does that of its data, "
                  "nor a second error") {
  train();
  reach(2);
  const error first{errc::data_loss, "record 5 has a wrong checksum", {}, "infeed", 2},
      second{errc::not_found, "part 2 is gone", {}, "infeed", 2};
  tell(boss, input_failed{1, 3_node, 2, first});
  tell(boss, stream_end{1, 2_node, 2, {}, end_kind::data});
  tell(boss, input_failed{1, 3_node, 2, second});
  kill(role::infeed);
  let_finish();
  REQUIRE_FALSE(board->result->has_value());
  const auto& found = board->result->error();
  CHECK(found.message == first.message);
  CHECK(std::count(found.notes.begin(), found.notes.end(), to_text(second)) == 1);
}

TEST_CASE("the table in docs/actors.md is the one that the chief goes by") {
  std::ifstream in{TROUPE_SOURCE_DIR "/docs/actors.md"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  REQUIRE_FALSE(text.empty());
  size_t rows = 0;
  for (const auto& rule : failure_rules()) {
    CAPTURE(line_of(rule));
    CHECK(has(text, "\n" + line_of(rule)));
  }
  for (const auto what : {"dies", "hangs", "throws"})
    for (size_t at = text.find("| " + std::string{what} + " | "); at != std::string::npos;
         at = text.find("| " + std::string{what} + " | ", at + 1))
      ++rows;
  CHECK(rows == failure_rules().size());
}

TEST_CASE(
    "a log can be cured by another attempt where each cause can, and where there is more than what was cancelled") {
  failure_log log;
  CHECK_FALSE(log.curable());
  log.add({errc::cancelled, "reading was cancelled"});
  CHECK_FALSE(log.curable());
  log.add({errc::aborted, "replica/0 ended: it was killed"}, cure::by_chance);
  CHECK(log.curable());
  CHECK(log.has_kill());
  log.add({errc::unavailable, "the file server does not answer"});
  CHECK(log.curable());
  SUBCASE("an error of the user's") { log.add({errc::nan_loss, "the loss is not finite"}); }
  SUBCASE("a failure after which the job ends, whatever its category") {
    log.add({errc::aborted, "outfeed ended"}, cure::none);
  }
  SUBCASE("an abort") { log.abort({errc::cancelled, "the job was aborted"}); }
  CHECK_FALSE(log.curable());
}

TEST_CASE(
    "[SUP-21] what was cancelled is a note of the error beside it, and the job recovers where that error alone would") {
  const error cancelled{errc::cancelled, "the step was cancelled", {}, "replica/0", 7};
  for (const auto category : {errc::not_found, errc::aborted, errc::unavailable})
    for (const bool comes_first : {true, false}) {
      CAPTURE(to_string(category));
      const error cause{category, "what the worker says", {}, "infeed/0", 7};
      failure_log log;
      for (const auto& e : {comes_first ? cancelled : cause, comes_first ? cause : cancelled})
        log.add(e);
      CHECK(log.root().category == category);
      CHECK(log.root().message == "what the worker says");
      CHECK(log.root().notes == std::vector<std::string>{to_text(cancelled)});
      CHECK(log.curable() == (category != errc::not_found));
    }
}

TEST_CASE("a log keeps each cause once, and after an abort all others are notes of it") {
  failure_log log;
  CHECK(log.empty());
  const error died{errc::aborted, "replica/0 ended"}, input{errc::data_loss, "record 5"};
  SUBCASE("the severest of those that follow from something, the earliest of the others") {
    log.add(died);
    log.add(input);
    log.add(input);
    CHECK(log.root().message == "record 5");
    CHECK(log.root().notes == std::vector<std::string>{to_text(died)});
  }
  SUBCASE("an abort") {
    log.abort({errc::cancelled, "the job was aborted"});
    log.add(input);
    CHECK(log.aborted());
    CHECK(log.root().category == errc::cancelled);
    CHECK(log.root().notes == std::vector<std::string>{to_text(input)});
  }
  SUBCASE("an abort of what had failed") {
    log.add(input);
    log.abort({errc::cancelled, "the job was aborted"});
    CHECK(log.root().message == "record 5");
  }
}

TEST_CASE("failures are of one group if its nodes alone have failed, whatever was cancelled in consequence") {
  const error died{errc::aborted, "b/replica/0 ended"}, cancelled{errc::cancelled, "the step was cancelled"};
  const error full{errc::resource_exhausted, "the disk is full"};
  const group_id a{1}, b{2};
  failure_log log;
  CHECK_FALSE(log.only_group());
  log.add(cancelled);
  CHECK_FALSE(log.only_group());
  log.add(died, cure::by_chance, b);
  log.add(error{errc::aborted, "b/reducer ended"}, cure::by_category, b);
  CHECK(log.only_group() == b);
  auto other = log;
  other.add(error{errc::aborted, "a/replica/0 ended"}, cure::by_chance, a);
  CHECK_FALSE(other.only_group());
  log.add(full);
  CHECK_FALSE(log.only_group());
}

}  // namespace troupe::test
