// Tests every arrow of the drawing in chief.hpp.
#include "support/chief_fixture.hpp"
#include "tests/support/has.hpp"

namespace troupe::test {

using shown_phase = job_progress::phase;

TEST_CASE_FIXTURE(chief_alone,
                  "a failure of nobody, and credit of a node that writes no records of evaluations, are not heard") {
  train();
  tell(boss, failure{1, node_id{99}, {errc::data_loss, "nobody's"}});
  for (const auto from : {node_id{99}, node_id{-1}, number_of(role::replica)})
    tell(boss, record_credit{1, 1'000, from});
  reach(granted());
  CHECK(phase() == job_progress::phase::training);
  CHECK_FALSE(board->result);
}

TEST_CASE_FIXTURE(chief_alone,
                  "starting: the nodes of the plan are started in its order, and the newest checkpoint is asked for") {
  start();
  CHECK(agent->started == std::vector<node_id>{0_node, 1_node, 2_node, 3_node});
  CHECK(node(role::checkpoint_writer).order() == order_of<restore>());
  CHECK(phase() == shown_phase::starting);
  CHECK(node(role::replica).order() == after_connecting<>());
}

TEST_CASE_FIXTURE(chief_alone,
                  "a job whose agent does not start its nodes in time fails, and the error names the agent") {
  agent->answers = false;
  start();
  CHECK(node(role::checkpoint_writer).count<restore>() == 0);
  let_pass(options.deadlines.start + std::chrono::seconds{1});
  let_pass(options.deadlines.stop + std::chrono::seconds{5});
  REQUIRE(board->result);
  REQUIRE_FALSE(board->result->has_value());
  CHECK(board->result->error().category == errc::deadline_exceeded);
  CHECK(test::has(board->result->error().message, "waited too long for agent to start the nodes"));
}

TEST_CASE_FIXTURE(chief_alone,
                  "an abort while nodes are being started ends the job once they are there, and they end with it") {
  agent->answers = false;
  start();
  tell(boss, request{request::abort});
  CHECK_FALSE(board->result);
  troupe::started late{1, 0, {}};
  for (const auto& [id, node] : agent->newest)
    late.nodes.push_back({id, node});
  tell(boss, late);
  REQUIRE(board->result);
  CHECK(board->result->error().category == errc::cancelled);
  CHECK(agent->newest.empty());
  CHECK(node(role::checkpoint_writer).count<restore>() == 0);
}

TEST_CASE_FIXTURE(chief_alone, "the death of an agent ends the job, and no other attempt is made") {
  options.recovery = {.attempts_max = 5, .first_delay_secs = 1};
  train();
  caf::anon_send_exit(options.nodes.agents.at(0), caf::exit_reason::kill);
  run();
  for (const auto what : {role::infeed, role::replica, role::outfeed, role::checkpoint_writer})
    kill(what);
  let_pass(options.deadlines.stop + options.deadlines.save);
  REQUIRE(board->result);
  REQUIRE_FALSE(board->result->has_value());
  CHECK(test::has(board->result->error().message, "agent ended"));
  CHECK(agent->attempts_begun() == 0);
}

TEST_CASE_FIXTURE(chief_alone,
                  "starting to restoring to training: everyone begins where the checkpoint stands, and hooks begin "
                  "before the first grant") {
  add(role::callbacks);
  start();
  tell(boss, restored{1, true, {20}, "/m/model.ckpt-20", {{"infeed/0", "here"}}, {}, {}});
  CHECK(node(role::outfeed).last<begin>().step == 20);
  CHECK_MESSAGE(node(role::replica).order() == after_connecting<begin>(), "whoever begins knows its neighbours");
  CHECK(node(role::infeed).last<begin>().position == "here");
  CHECK(node(role::callbacks).last<fact>().what == fact::begin_at);
  answer_hooks();
  CHECK(phase() == shown_phase::training);
  CHECK(node(role::replica).order() == after_connecting<begin, troupe::run, troupe::run>());
  CHECK_MESSAGE(marked(mark_snapshot) == std::vector<int64_t>{20}, "a resumed job lists again what it came from");
}

TEST_CASE_FIXTURE(
    chief_alone,
    "training: the horizon grows with the reports, by two blocks at least, and saves are marked before it gets there") {
  train();
  const auto first = granted();
  CHECK(first >= 2);
  int64_t reached = 0;
  for (int64_t before = 0; reached < 25; before = granted()) {
    reach(reached = granted());
    CHECK(granted() > before);
    for (const auto& r : node(role::infeed).all<troupe::run>())
      CHECK(r.until <= 100);
  }
  CHECK(marked(mark_snapshot).at(0) == 0);
  CHECK(marked(mark_snapshot).at(1) == 10);
  CHECK(marked(mark_snapshot).at(2) == 20);
}

TEST_CASE_FIXTURE(chief_alone,
                  "training to draining to ending to finished: the end is marked, saved, and everyone is sent home") {
  train();
  let_finish();
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->global_step == 100);
  CHECK_FALSE((*board->result)->stopped);
  CHECK(marked(mark_end | mark_snapshot) == std::vector<int64_t>{100});
  CHECK(board->phases
        == std::vector<shown_phase>{shown_phase::starting, shown_phase::restoring, shown_phase::training,
                                    shown_phase::draining, shown_phase::finished});
  CHECK(node(role::infeed).address()->get()->getf(caf::abstract_actor::is_terminated_flag));
}

TEST_CASE_FIXTURE(chief_alone,
                  "training to draining: a stop marks the end at the horizon, and the job can go on later") {
  train();
  reach(2);
  const auto until = granted();
  tell(boss, request{request::stop});
  CHECK(phase() == shown_phase::draining);
  CHECK(marked(mark_end | mark_snapshot) == std::vector<int64_t>{until});
  let_finish();
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->stopped);
  CHECK((*board->result)->global_step == until);
}

TEST_CASE_FIXTURE(chief_alone, "training to draining: data that end cancel the saves beyond, and the end is saved") {
  options.save_steps = std::nullopt;
  train();
  reach(2);
  const auto until = granted();
  tell(boss, stream_end{1, {}, 3, {errc::out_of_range, "the data ended", {}, "infeed"}});
  REQUIRE(until > 3);
  CHECK(node(role::infeed).last<rewind>().step == 3);
  CHECK(node(role::checkpoint_writer).last<abandon>().step == 3);
  CHECK(node(role::checkpoint_writer).last<snapshot_part>().step == 3);
  commit(0);
  commit(3);
  REQUIRE(board->result);
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->global_step == 3);
  CHECK((*board->result)->remark == "the data ended at step 3, before max_steps 100");
}

TEST_CASE_FIXTURE(chief_alone,
                  "training to draining: an input that fails beyond the end of the data is nobody's failure") {
  options.save_steps = std::nullopt;
  train();
  reach(2);
  tell(boss, stream_end{1, {}, 3, {errc::out_of_range, "the data ended", {}, "infeed"}});
  tell(boss, input_failed{1, number_of(role::infeed), 5, {errc::unavailable, "no file", {}, "infeed", 5}});
  let_pass(options.deadlines.stop + std::chrono::seconds{1});
  CHECK_FALSE(board->result);
  commit(0);
  commit(3);
  REQUIRE(board->result);
  CHECK(board->result->has_value());
}

TEST_CASE_FIXTURE(chief_alone,
                  "restoring to ending: a job that has nothing left to train ends once its checkpoint says so") {
  start();
  auto& writer = node(role::checkpoint_writer);
  SUBCASE("it does") {
    tell(boss, restored{1, true, {100}, "/m/model.ckpt-100", {{"infeed/0", "batch 100"}}, {{"finished", "true"}}, {}});
    CHECK(writer.count<late_properties>() == 0);
  }
  SUBCASE("the process before failed with its last save") {
    restore_at(100);
    REQUIRE(writer.count<late_properties>() == 1);
    CHECK(writer.last<late_properties>().properties.at("finished") == "true");
    CHECK_FALSE(board->result);
    tell(boss, late_properties_kept{1, {100}});
  }
  REQUIRE(board->result);
  REQUIRE(board->result->has_value());
  CHECK((*board->result)->steps_run == 0);
  CHECK(node(role::replica).count<troupe::run>() == 0);
}

TEST_CASE_FIXTURE(chief_alone,
                  "ending: hooks see the end before anyone is sent home, and who does not go home in time is named") {
  const auto calls = std::make_shared<hook_calls>();
  options.hook_thread = calls;
  add(role::callbacks);
  train();
  reach(2);
  tell(boss, request{request::abort});
  CHECK(node(role::callbacks).last<fact>().what == fact::end_at);
  CHECK(agent->cancelled == 1);
  CHECK_FALSE(board->result);
  SUBCASE("they go") {
    answer_hooks();
    REQUIRE(board->result);
    CHECK(board->result->error().category == errc::cancelled);
    CHECK(board->phases.back() == shown_phase::failed);
  }
  SUBCASE("the hooks do not answer: everyone is sent home all the same, and the call that hangs is named") {
    const auto in_call = current_call::enter(&calls->under_way, "on_step()", "hooks[1] (my::hook)");
    let_pass(std::chrono::seconds{6});
    REQUIRE(board->result);
    CHECK(test::has(board->result->error().notes.at(0),
                    "too long for the hooks to see the end: on_step() of hooks[1] (my::hook) has not returned; their "
                    "last call was not made"));
  }
}

TEST_CASE_FIXTURE(chief_alone,
                  "from any phase to ending: a failure ends the job as itself, and nothing is saved before there is "
                  "anything to save") {
  add(role::callbacks);
  start();
  SUBCASE("starting") {}
  SUBCASE("restoring") { tell(boss, restored{1, false, {0}, "", {}, {}, {}}); }
  tell(boss, failure{1, 0_node, {errc::data_loss, "no checkpoint is whole", {}, "checkpoint_writer"}});
  CHECK(node(role::callbacks).last<fact>().what == fact::end_at);
  answer_hooks();
  REQUIRE(board->result);
  CHECK(board->result->error().category == errc::data_loss);
  CHECK(node(role::checkpoint_writer).count<settle>() == 0);
}

TEST_CASE_FIXTURE(chief_alone, "a gate holds the horizon until the hooks have answered") {
  add(role::callbacks);
  start();
  tell(boss, restored{1, false, {0}, "", {}, {}, {}});
  answer_hooks({.steps = {{.first = 4, .every = 0, .gate = true}}});
  for (int i = 0; i < 10; ++i)
    reach(granted());
  CHECK(granted() == 4);
  progress there{1, 4, 1, 0.001, {4, 0.5, 0.5, {}}, {}, {{4, {}}}};
  tell(boss, there);
  CHECK(granted() == 4);
  CHECK(node(role::callbacks).last<fact>().gate);
  answer_hooks();
  CHECK(granted() > 4);
}

TEST_CASE_FIXTURE(chief_alone,
                  "nothing is granted past a save that a hook holds before the hook has heard of it, and a stop there "
                  "ends the job there") {
  const auto calls = std::make_shared<hook_calls>();
  options.hook_thread = calls;
  add(role::callbacks);
  start();
  tell(boss, restored{1, false, {0}, "", {}, {}, {}});
  answer_hooks({.holds = {.saved = true}});
  CHECK_MESSAGE(granted() == 0, "the save of a fresh start is one, too");
  commit(0);
  CHECK(granted() == 0);
  answer_hooks();
  for (int i = 0; i < 20; ++i)
    reach(granted());
  CHECK(granted() == 10);
  commit(10);
  CHECK(node(role::callbacks).last<fact>().news.what == job_event::kind::saved);
  CHECK(granted() == 10);
  SUBCASE("it goes on") {
    answer_hooks();
    CHECK(granted() > 10);
  }
  SUBCASE("it stops") {
    tell(boss, request{request::stop});
    let_finish();
    REQUIRE(board->result->has_value());
    CHECK((*board->result)->global_step == 10);
    CHECK((*board->result)->stopped);
  }
  SUBCASE("it does not return: the job fails and says at which step") {
    let_pass(std::chrono::seconds{6});
    let_finish();
    REQUIRE_FALSE(board->result->has_value());
    CHECK(board->result->error().message == "chief waited too long for a hook's answer at step 10");
  }
  SUBCASE("the call that it is in is named, there and at the end") {
    const auto in_call = current_call::enter(&calls->under_way, "on_event()", "hooks[0] (my::hook)");
    let_pass(std::chrono::seconds{6});
    let_finish();
    REQUIRE_FALSE(board->result->has_value());
    const std::string who = ": on_event() of hooks[0] (my::hook) has not returned";
    CHECK(board->result->error().message == "chief waited too long for a hook's answer at step 10" + who);
  }
}

TEST_CASE_FIXTURE(
    chief_alone,
    "without an outfeed a state is reached when the slowest replica has reported it, whoever reports last") {
  add(role::replica);
  add(role::replica);
  train();
  const auto until = granted();
  REQUIRE(until >= 2);
  kill(role::outfeed);
  const auto report = [&](node_id replica, int64_t steps) {
    tell(boss, step_report{1, replica, 0, std::vector<double>(static_cast<size_t>(steps), 0.5), {}, {}, 0});
  };
  commit(until);
  const auto is_told = [&] {
    return std::any_of(board->events.begin(), board->events.end(),
                       [&](const job_event& e) { return e.what == job_event::kind::saved && e.step == until; });
  };
  report(2_node, until);
  report(4_node, until - 1);
  report(5_node, until);
  CHECK_FALSE(is_told());
  report(4_node, until);
  CHECK(is_told());
}

TEST_CASE_FIXTURE(chief_alone, "a writer that stands in for a dead one hears which nodes send no more parts") {
  train();
  commit(0);
  reach(2);
  kill(role::infeed);
  // The first writer may have died before it learnt of this death.
  REQUIRE(node(role::outfeed).count<flush>() == 1);
  kill(role::checkpoint_writer);
  REQUIRE(node(role::checkpoint_writer).count<troupe::stand_in>() == 1);
  REQUIRE(node(role::checkpoint_writer).count<gone>() == 1);
  CHECK(node(role::checkpoint_writer).last<gone>().part == 3_node);
}

TEST_CASE_FIXTURE(chief_alone, "after a failure the books of the last save still follow the summaries of its state") {
  add(role::summary_writer);
  add(role::eval_summary_writer);
  options.summary_steps = 1;
  train();
  commit(0);
  reach(2);
  const auto books = [&] { return node(role::summary_writer).all<snapshot_part>().size(); };
  const auto before = books();
  kill(role::eval_summary_writer);
  const auto last = granted();
  REQUIRE(last > 2);
  REQUIRE(marked(mark_end | mark_snapshot) == std::vector<int64_t>{last});
  CHECK(books() == before);
  SUBCASE("once the reports of the last state are in") { reach(last); }
  SUBCASE("or once nobody reports, as then the model is worth more than its curve") {
    let_pass(options.deadlines.save + std::chrono::seconds{1});
  }
  REQUIRE(books() == before + 1);
  CHECK(node(role::summary_writer).last<snapshot_part>().step == last);
}

}  // namespace troupe::test
