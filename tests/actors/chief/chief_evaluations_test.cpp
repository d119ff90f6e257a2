// The chief's evaluations and their consequences, with stand-ins for its nodes.
#include "support/chief_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(chief_alone, "an evaluation that training waits for is a gate at its checkpoint") {
  add(role::evaluator);
  options.evaluations = {{.throttle_secs = 0}};
  train();
  for (int i = 0; i < 20; ++i)
    reach(granted());
  CHECK(granted() == 10);
  commit(0);
  commit(10);
  CHECK(node(role::evaluator).last<evaluate_at>().which.step == 10);
  CHECK(granted() == 10);
  tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "/m/model.ckpt-10"});
  CHECK(granted() > 10);
  CHECK(node(role::checkpoint_writer).last<unlease>().id.step == 10);
}

TEST_CASE_FIXTURE(chief_alone, "the board shows an evaluation from the question to the result, and how far it is") {
  using under_way = std::vector<evaluation_progress>;
  add(role::evaluator);
  options.evaluations = {{.name = "held out", .throttle_secs = 0}};
  train();
  for (int i = 0; i < 20; ++i)
    reach(granted());
  commit(0);
  CHECK(board->newest.evaluating.empty());
  commit(10);
  CHECK(board->newest.evaluating == under_way{{"held out", 10, 0}});
  tell(boss, batches_evaluated{1, {10}, 0, 7});
  CHECK(board->newest.evaluating == under_way{{"held out", 10, 7}});
  tell(boss, batches_evaluated{1, {9}, 0, 90});
  tell(boss, batches_evaluated{1, {10}, 1, 90});
  CHECK(board->newest.evaluating == under_way{{"held out", 10, 7}});
  tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 9, 0.1, {}, "/m/model.ckpt-10"});
  CHECK(board->newest.evaluating.empty());
  tell(boss, batches_evaluated{1, {10}, 0, 9});
  CHECK(board->newest.evaluating.empty());
}

TEST_CASE_FIXTURE(
    chief_alone,
    "no report is awaited while training waits for an evaluation, though the last report showed hooks a step") {
  add(role::evaluator);
  add(role::callbacks);
  options.evaluations = {{.throttle_secs = 0}};
  start();
  tell(boss, restored{1, false, {0}, "", {}, {}, {}});
  answer_hooks({.steps = {{.first = 10, .every = 10}}});
  commit(0);
  answer_hooks();
  for (int i = 0; i < 20 && granted() < 10; ++i)
    reach(granted());
  REQUIRE(granted() == 10);
  tell(boss, progress{1, 10, 1, 0.001, {10, 0.5, 0.5, {}}, {}, {{.step = 10, .values = {}, .observed = {}}}});
  commit(10);
  answer_hooks();
  REQUIRE(node(role::evaluator).last<evaluate_at>().which.step == 10);
  let_pass(options.deadlines.silence + std::chrono::seconds{10});
  CHECK_FALSE(board->result);
  tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "/m/model.ckpt-10"});
  answer_hooks();
  CHECK(granted() > 10);
}

TEST_CASE_FIXTURE(
    chief_alone, "a job that grew a model commits it at the step that it came from, as news, and names its iteration") {
  add(role::evaluator);
  options.evaluations = {{.throttle_secs = 0}};
  options.stored.iteration.number = 1;
  start();
  tell(boss, restored{1, true, {20}, "/m/model.ckpt-20", {{"infeed/0", "here"}}, {}, {}});
  CHECK(marked(mark_snapshot) == std::vector<int64_t>{20});
  tell(boss, committed{1, {20, 1}, "/m/model.ckpt-20-iteration-1", {}});
  const auto told = [&](job_event::kind what) {
    std::vector<checkpoint_id> all;
    for (const auto& e : board->events)
      if (e.what == what)
        all.push_back(e.checkpoint.value_or(checkpoint_id{-1}));
    return all;
  };
  CHECK(told(job_event::kind::saved) == std::vector<checkpoint_id>{{20, 1}});
  CHECK(node(role::checkpoint_writer).last<unlease>().id == checkpoint_id{20, 1});
  for (int i = 0; i < 20; ++i)
    reach(granted());
  CHECK(granted() == 30);
  tell(boss, committed{1, {30, 1}, "/m/model.ckpt-30-iteration-1", {}});
  CHECK(node(role::evaluator).last<evaluate_at>().which.step == 30);
  CHECK(node(role::evaluator).last<evaluate_at>().which.iteration == 1);
  tell(boss, evaluated{1, {30, 1}, true, {{"loss", 0.25}}, 3, 0.1, {}, "/m/model.ckpt-30-iteration-1"});
  CHECK(told(job_event::kind::evaluated) == std::vector<checkpoint_id>{{30, 1}});
  CHECK(node(role::checkpoint_writer).last<unlease>().id == checkpoint_id{30, 1});
}

TEST_CASE_FIXTURE(
    chief_alone,
    "evaluations that a hook holds are gates, though they take place beside training; others' saves are none") {
  add(role::evaluator);
  add(role::callbacks);
  options.evaluations = {{.throttle_secs = 0, .when = evaluation_mode::beside}};
  start();
  tell(boss, restored{1, false, {0}, "", {}, {}, {}});
  const auto reach_ten = [&] {
    commit(0);
    answer_hooks();
    for (int i = 0; i < 20 && granted() < 10; ++i)
      reach(granted());
    reach(10);
    commit(10);
    REQUIRE(node(role::evaluator).last<evaluate_at>().which.step == 10);
  };
  SUBCASE("held") {
    answer_hooks({.holds = {.evaluated = true}});
    reach_ten();
    answer_hooks();
    CHECK_MESSAGE(granted() == 10, "that it was saved is not held, its evaluation is");
    tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "/m/model.ckpt-10"});
    CHECK(granted() == 10);
    answer_hooks();
    CHECK(granted() > 10);
  }
  SUBCASE("only saves are held") {
    answer_hooks({.holds = {.saved = true}});
    reach_ten();
    CHECK(granted() == 10);
    answer_hooks();
    CHECK_MESSAGE(granted() > 10, "the evaluation goes on beside training");
  }
}

TEST_CASE_FIXTURE(chief_alone,
                  "training waits for all evaluations of a checkpoint, and keeps it until the last of them is done") {
  add(role::evaluator);
  add(role::evaluator);
  options.evaluations = {{.name = "test", .throttle_secs = 0}, {.name = "train", .throttle_secs = 0}};
  train();
  for (int i = 0; i < 20; ++i)
    reach(granted());
  commit(0);
  commit(10);
  const auto asked = [&](size_t which) { return nth(role::evaluator, which).last<evaluate_at>(); };
  CHECK(asked(0).which.step == 10);
  CHECK(asked(0).evaluation == 0);
  CHECK(asked(1).which.step == 10);
  CHECK(asked(1).evaluation == 1);
  const auto given_up = [&] { return node(role::checkpoint_writer).last<unlease>().id.step; };
  SUBCASE("both answer") {
    tell(boss, evaluated{1, {10}, true, {{"loss", 0.5}}, 3, 0.1, {}, "", 1});
    CHECK(granted() == 10);
    CHECK(given_up() == 0);
    tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "", 0});
    CHECK(granted() > 10);
    CHECK(given_up() == 10);
    const auto& told = board->events;
    CHECK(std::count_if(
              told.begin(), told.end(),
              [](const job_event& e) { return e.what == job_event::kind::evaluated && e.evaluation == "train"; })
          == 1);
    tell(boss, request{request::stop});
    let_finish([&](int64_t step) {
      for (int32_t which : {1, 0})
        tell(boss, evaluated{1, {step}, true, {{"loss", which + 1.0}}, 3, 0.1, {}, "", which});
    });
    REQUIRE(board->result->has_value());
    CHECK((*board->result)->metrics.at("loss") == 1);
    CHECK((*board->result)->evaluations.at("train").at("loss") == 2);
  }
  SUBCASE("one does not answer: the job says for which it waited") {
    tell(boss, evaluated{1, {10}, true, {{"loss", 0.5}}, 3, 0.1, {}, "", 0});
    let_pass(std::chrono::seconds{45});
    let_finish();
    REQUIRE_FALSE(board->result->has_value());
    CHECK(board->result->error().message == "chief waited too long for the evaluation 'train' of step 10");
  }
  SUBCASE("an answer of an unknown evaluation is nobody's") {
    tell(boss, evaluated{1, {10}, true, {{"loss", 0.5}}, 3, 0.1, {}, "", 7});
    CHECK(granted() == 10);
  }
}

TEST_CASE_FIXTURE(chief_alone, "a rule ends a job at exactly the evaluated step, once its checkpoint says so") {
  add(role::evaluator);
  options.evaluations = {{.throttle_secs = 0}};
  options.judged = {{stop_if_lower("loss", 0.3)}, keep_best{}, {{"", {}}}};
  train();
  for (int i = 0; i < 20; ++i)
    reach(granted());
  commit(0);
  commit(10);
  auto& writer = node(role::checkpoint_writer);
  SUBCASE("the value is low enough") {
    tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "", 0});
    CHECK(granted() == 10);
    CHECK_FALSE(board->result);
    REQUIRE(writer.count<late_properties>() == 2);
    CHECK(writer.all<late_properties>()[0].properties.at("best") == "10");
    CHECK(writer.last<late_properties>().id == checkpoint_id{10});
    CHECK(writer.last<late_properties>().properties.at("ended")
          == "early: loss lower than 0.3: loss was 0.25 at step 10");
    SUBCASE("it becomes durable") {
      tell(boss, late_properties_kept{1, {10}});  // For the property "best".
      CHECK_FALSE(board->result);
      tell(boss, late_properties_kept{1, {10}});
      let_finish();
      REQUIRE(board->result->has_value());
      const auto& result = **board->result;
      CHECK(result.global_step == 10);
      CHECK_FALSE(result.stopped);
      CHECK(result.remark == "ended early: loss lower than 0.3: loss was 0.25 at step 10");
      CHECK(result.best_checkpoint == "/m/model.ckpt-10");
    }
    SUBCASE("the writer does not answer") {
      let_pass(std::chrono::seconds{35});
      let_finish();
      REQUIRE_FALSE(board->result->has_value());
      CHECK(board->result->error().message
            == "chief waited too long for the verdict on the checkpoint of step 10 to be kept");
    }
  }
  SUBCASE("it is not") {
    tell(boss, evaluated{1, {10}, true, {{"loss", 0.35}}, 3, 0.1, {}, "", 0});
    CHECK(granted() > 10);
    CHECK(writer.count<late_properties>() == 1);
  }
}

TEST_CASE_FIXTURE(
    chief_alone,
    "where a rule looks at an evaluation beside training, the job ends at the horizon, whose books say so") {
  add(role::evaluator);
  options.evaluations = {{.throttle_secs = 0, .when = evaluation_mode::beside}};
  options.judged = {{stop_if_lower("loss", 0.3)}, {}, {{"", {}}}};
  train();
  commit(0);
  while (granted() < 10)
    reach(granted());
  reach(10);
  commit(10);
  while (granted() < 15)
    reach(granted());
  const auto horizon = granted();
  tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "", 0});
  CHECK(granted() == horizon);
  reach(horizon);
  const auto books = node(role::checkpoint_writer).last<snapshot_part>();
  CHECK(books.step == horizon);
  CHECK(books.properties.at("ended_by") == "loss lower than 0.3");
  let_finish([&](int64_t step) { tell(boss, evaluated{1, {step}, true, {{"loss", 0.2}}, 3, 0.1, {}, "", 0}); });
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->global_step == horizon);
}

TEST_CASE_FIXTURE(chief_alone, "a job that a rule has ended trains nothing, unless it has the rule no more") {
  options.judged = {{stop_if_lower("loss", 0.3)}, {}, {{"", {}}}};
  const std::map<std::string, std::string> books{{"ended", "early: so it was"}, {"ended_by", "loss lower than 0.3"}};
  const restored at_ten{1, true, {10}, "/m/model.ckpt-10", {{"infeed/0", "there"}}, books, {}};
  SUBCASE("the same rule") {
    start();
    tell(boss, at_ten);
    let_finish();
    REQUIRE(board->result->has_value());
    CHECK((*board->result)->steps_run == 0);
    CHECK((*board->result)->remark == "nothing to train: /m/model.ckpt-10 has ended early: so it was");
  }
  SUBCASE("another rule") {
    options.judged.rules = {stop_if_lower("loss", 0.2)};
    start();
    tell(boss, at_ten);
    CHECK(granted() > 10);
  }
}

TEST_CASE_FIXTURE(chief_alone,
                  "training that waits for an evaluation waits for its predicate too, which the chief does not call") {
  add(role::evaluator);
  options.evaluations = {{.throttle_secs = 0}};
  options.judged = {
      {stop_if("mine", [](const evaluation_history&) -> bool { throw std::runtime_error{"called"}; })}, {}, {{"", {}}}};
  train();
  commit(0);
  while (granted() < 10)
    reach(granted());
  reach(10);
  commit(10);
  tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "", 0});
  REQUIRE(node(role::evaluator).count<apply_rule>() == 1);
  const auto asked = node(role::evaluator).last<apply_rule>();
  CHECK(asked.history == evaluation_history{{10, {{"loss", 0.25}}}});
  CHECK(granted() == 10);
  SUBCASE("it does not hold") {
    tell(boss, rule_applied{asked.number, true, "", {}});
    CHECK(granted() > 10);
  }
  SUBCASE("it holds") {
    tell(boss, rule_applied{asked.number, true, "mine, at step 10", {}});
    REQUIRE(node(role::checkpoint_writer).last<late_properties>().properties.at("ended") == "early: mine, at step 10");
    tell(boss, late_properties_kept{1, {10}});
    let_finish();
    REQUIRE(board->result->has_value());
    CHECK((*board->result)->global_step == 10);
    CHECK((*board->result)->remark == "ended early: mine, at step 10");
  }
  SUBCASE("it has thrown") {
    tell(boss, rule_applied{asked.number, false, "", {errc::state, "the rule 'mine' threw: no", {}, "evaluator"}});
    let_finish();
    REQUIRE_FALSE(board->result->has_value());
    CHECK(board->result->error().message == "the rule 'mine' threw: no");
  }
}

TEST_CASE_FIXTURE(chief_alone, "a job that has trained for max_secs saves, stops, and does not say that it has ended") {
  options.max_secs = 5;
  train();
  commit(0);
  for (int i = 0; i < 4; ++i)
    let_pass(std::chrono::seconds{1});
  CHECK(phase() == job_progress::phase::training);
  let_pass(std::chrono::seconds{2});
  let_finish();
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->stopped);
  CHECK((*board->result)->remark == "stopped after training for 5 s");
  CHECK(node(role::checkpoint_writer).last<snapshot_part>().properties.at("finished") == "false");
}

TEST_CASE_FIXTURE(chief_alone, "of two evaluations that may fail the one that is left keeps its gates") {
  add(role::evaluator);
  add(role::evaluator);
  options.evaluations = {{.name = "a", .throttle_secs = 0, .on_failure = failure_policy::go_on},
                         {.name = "b", .throttle_secs = 0, .on_failure = failure_policy::go_on}};
  train();
  for (int i = 0; i < 20; ++i)
    reach(granted());
  commit(0);
  commit(10);
  kill(role::evaluator);
  CHECK_MESSAGE(granted() == 10, "the other evaluates still");
  CHECK(board->warned());
  tell(boss, evaluated{1, {10}, true, {{"loss", 0.5}}, 3, 0.1, {}, "", 1});
  CHECK(granted() > 10);
  for (int i = 0; i < 20; ++i)
    reach(granted());
  CHECK(granted() == 20);
  commit(20);
  CHECK(nth(role::evaluator, 1).last<evaluate_at>().which.step == 20);
  CHECK(granted() == 20);
}

TEST_CASE_FIXTURE(chief_alone, "an evaluator that may fail takes its gates with it") {
  add(role::evaluator);
  add(role::callbacks);
  options.evaluations = {{.throttle_secs = 0, .on_failure = failure_policy::go_on}};
  start();
  tell(boss, restored{1, false, {0}, "", {}, {}, {}});
  answer_hooks({.holds = {.evaluated = true}});
  commit(0);
  for (int i = 0; i < 20 && granted() < 10; ++i)
    reach(granted());
  reach(10);
  commit(10);
  answer_hooks();
  REQUIRE(granted() == 10);
  kill(role::evaluator);
  answer_hooks();
  CHECK(granted() > 10);
  CHECK(board->warned());
}

TEST_CASE_FIXTURE(chief_alone,
                  "an evaluation that waits for its evaluator is of its own checkpoint, also where an attempt has "
                  "begun at an earlier one") {
  add(role::evaluator);
  options.recovery = {.attempts_max = 3, .first_delay_secs = 1};
  options.evaluations = {{.throttle_secs = 0, .when = evaluation_mode::beside}};
  train();
  commit(0);
  while (granted() < 22)
    reach(granted());
  reach(22);
  commit(10);
  commit(20);
  REQUIRE(node(role::evaluator).count<evaluate_at>() == 1);
  kill(role::replica);
  answer_flush();
  tell(boss, save_failed{1, 30, error{errc::aborted, "lacks a part"}});
  tell(boss, halted{1, number_of(role::infeed)});
  answer_flush();
  let_pass(std::chrono::seconds{2});
  REQUIRE(node(role::checkpoint_writer).last<restore>().attempt == 2);
  tell(boss, restored{2, true, {10}, "/m/model.ckpt-10", {{"infeed/0", "batch 10"}}, {}, {}});
  tell(boss, evaluated{1, {10}, true, {{"loss", 0.25}}, 3, 0.1, {}, "/m/model.ckpt-10"});
  REQUIRE(node(role::evaluator).count<evaluate_at>() == 2);
  CHECK(node(role::evaluator).last<evaluate_at>().which.step == 20);
  CHECK(node(role::evaluator).last<evaluate_at>().prefix == "/m/model.ckpt-20");
}

}  // namespace troupe::test
