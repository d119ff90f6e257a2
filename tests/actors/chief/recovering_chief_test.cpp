// Tests the arrows of the drawing in chief.hpp from a failed attempt to the next, with stand-ins for the nodes.
#include "support/chief_fixture.hpp"
#include "tests/support/has.hpp"

namespace troupe::test {

using shown_phase = job_progress::phase;

namespace {

/// Node 2 is the replica, node 3 the infeed. Attempt 1 is at step 12, and step 10 is committed.
struct recovering_chief : chief_alone {
  explicit recovering_chief(bool hooks = false) {
    options.recovery = {.attempts_max = 3, .first_delay_secs = 1};
    if (hooks)
      add(role::callbacks);
    train();
    commit(0);
    while (granted() < 12)
      reach(granted());
    reach(12);
    commit(10);
    if (hooks)
      answer_hooks();
  }
  size_t halts() { return node(role::infeed).count<halt>(); }
  void infeed_halts(int32_t attempt = 1) { tell(boss, halted{attempt, 3_node}); }
  bool restores() { return node(role::checkpoint_writer).last<restore>().attempt == 2; }
  /// From the death of the replica to the beginning of the delay.
  void fail_and_halt() {
    kill(role::replica);
    answer_flush();  // The outfeed has passed on what it held.
    tell(boss, save_failed{1, 12, error{errc::aborted, "lacks a part"}});
    infeed_halts();
    answer_flush();  // The outfeed has passed on later news.
  }
  void restore_at_10() { tell(boss, restored{2, true, {10}, "/m/model.ckpt-10", {{"infeed/0", "batch 10"}}, {}, {}}); }
  std::vector<int64_t> events_of(job_event::kind what) const {
    std::vector<int64_t> steps;
    for (const auto& e : board->events)
      if (e.what == what)
        steps.push_back(e.step);
    return steps;
  }
};

using node_ids = std::vector<node_id>;

}  // namespace

TEST_CASE_FIXTURE(
    recovering_chief,
    "draining to recovering: nobody is asked to restore before everyone is halted, and the delay is over") {
  kill(role::replica);
  CHECK_MESSAGE(halts() == 0, "first the outfeed passes on what it holds");
  answer_flush();
  CHECK(halts() == 1);
  CHECK(phase() == shown_phase::draining);
  const auto flushes = node(role::outfeed).count<flush>();
  infeed_halts();
  CHECK_MESSAGE(node(role::outfeed).count<flush>() == flushes + 1, "late news");
  CHECK(phase() == shown_phase::draining);
  answer_flush();
  CHECK(phase() == shown_phase::recovering);
  CHECK(events_of(job_event::kind::recovering) == std::vector<int64_t>{12});
  CHECK((agent->started == node_ids{0_node, 1_node, 2_node, 3_node}));
  let_pass(std::chrono::milliseconds{800});
  CHECK_FALSE(restores());
  let_pass(std::chrono::milliseconds{700});
  CHECK(restores());
  CHECK(agent->attempts_begun() == 1);
  CHECK_MESSAGE((agent->started == node_ids{0_node, 1_node, 2_node, 3_node, 2_node}), "only the replica starts anew");
}

TEST_CASE_FIXTURE(
    recovering_chief,
    "recovering to restoring to training: everyone begins the next attempt at the commit, which is listed again") {
  fail_and_halt();
  let_pass(std::chrono::seconds{2});
  REQUIRE(restores());
  restore_at_10();
  CHECK(phase() == shown_phase::training);
  for (const auto what : {role::outfeed, role::replica, role::infeed}) {
    CAPTURE(to_string(what));
    CHECK(node(what).last<begin>().attempt == 2);
    CHECK(node(what).last<begin>().step == 10);
  }
  CHECK(node(role::infeed).last<begin>().position == "batch 10");
  CHECK(node(role::replica).order() == after_connecting<begin, troupe::run, troupe::run>());
  CHECK((node(role::replica).all<troupe::run>().front().marks == std::vector<mark>{{10, mark_snapshot}}));
  CHECK(events_of(job_event::kind::recovered) == std::vector<int64_t>{10});
  CHECK(events_of(job_event::kind::started) == std::vector<int64_t>{0});
  tell(boss, committed{2, {10}, "/m/model.ckpt-10", {}});
  CHECK_MESSAGE((events_of(job_event::kind::saved) == std::vector<int64_t>{0, 10}),
                "a commit that is listed again is not told again");
}

TEST_CASE_FIXTURE(
    recovering_chief,
    "a state is restored to the first replica of its group, the one that was started anew where it had died") {
  const auto owners = [&] { return node(role::checkpoint_writer).last<restore>().owners; };
  REQUIRE(owners().size() == 1);
  const auto first = owners().front().owner;
  CHECK(caf::actor_cast<caf::strong_actor_ptr>(first) == node(role::replica).address());
  fail_and_halt();
  let_pass(std::chrono::seconds{2});
  REQUIRE(restores());
  REQUIRE(owners().size() == 1);
  CHECK(caf::actor_cast<caf::strong_actor_ptr>(owners().front().owner) == node(role::replica).address());
  CHECK(owners().front().owner != first);
}

TEST_CASE_FIXTURE(
    recovering_chief,
    "a replica that dies in a restoration is one more failure, and a restoration that ends meanwhile begins nothing") {
  fail_and_halt();
  let_pass(std::chrono::seconds{2});
  REQUIRE(restores());
  kill(role::replica);
  restore_at_10();
  CHECK_MESSAGE(node(role::infeed).last<begin>().attempt == 1, "the outfeed is still to pass on what it holds");
  answer_flush();
  infeed_halts(2);
  answer_flush();
  CHECK(phase() == shown_phase::recovering);
  let_pass(std::chrono::seconds{4});
  CHECK(node(role::checkpoint_writer).last<restore>().attempt == 3);
  CHECK(events_of(job_event::kind::recovering).size() == 2);
}

TEST_CASE_FIXTURE(recovering_chief, "news of the attempt before changes nothing in the next one") {
  fail_and_halt();
  let_pass(std::chrono::seconds{2});
  restore_at_10();
  const auto before = granted();
  const auto told = board->events.size();
  reach(50);
  commit(40);
  tell(boss, save_failed{1, 40, error{errc::data_loss, "an old disk"}});
  tell(boss, stream_end{1, 2_node, 30, error{errc::nan_loss, "an old loss"}, end_kind::failed});
  tell(boss, input_failed{1, 3_node, 30, error{errc::data_loss, "an old file"}});
  infeed_halts();
  CHECK(granted() == before);
  CHECK(board->events.size() == told);
  CHECK(phase() == shown_phase::training);
}

TEST_CASE_FIXTURE(recovering_chief, "late news that no attempt can cure ends the job with it") {
  kill(role::replica);
  answer_flush();
  tell(boss, stream_end{1, 2_node, 12, error{errc::nan_loss, "the loss is not finite", {}, "replica/0", 12},
                        end_kind::failed});
  infeed_halts();
  answer_flush();
  for (const auto what : {role::summary_writer, role::eval_summary_writer})
    CHECK_FALSE(has(what));
  REQUIRE(board->result);
  CHECK(board->result->error().category == errc::nan_loss);
  CHECK(events_of(job_event::kind::recovering).empty());
  CHECK(agent->attempts_begun() == 0);
}

TEST_CASE_FIXTURE(recovering_chief,
                  "a node that is not halted within the stop deadline is named, and no attempt begins") {
  kill(role::replica);
  answer_flush();
  let_pass(std::chrono::seconds{2});
  CHECK_FALSE(board->result);
  let_pass(std::chrono::seconds{2});
  answer_flush();
  let_pass(std::chrono::seconds{5});
  REQUIRE(board->result);
  const auto& notes = board->result->error().notes;
  const std::string named = "infeed did not end its step or its read within 3000 ms";
  CHECK(std::any_of(notes.begin(), notes.end(), [&](const auto& n) { return test::has(n, named); }));
  CHECK(agent->attempts_begun() == 0);
}

TEST_CASE_FIXTURE(recovering_chief, "a writer, an outfeed or a hook that dies during the delay ends the job") {
  fail_and_halt();
  REQUIRE(phase() == shown_phase::recovering);
  SUBCASE("checkpoint writer") { kill(role::checkpoint_writer); }
  SUBCASE("outfeed") { kill(role::outfeed); }
  let_pass(std::chrono::seconds{10});
  REQUIRE(board->result);
  CHECK(board->result->error().category == errc::aborted);
  CHECK(agent->attempts_begun() == 0);
}

TEST_CASE_FIXTURE(recovering_chief,
                  "a node that dies during the delay is started anew with the others, at no further cost") {
  fail_and_halt();
  kill(role::infeed);
  let_pass(std::chrono::seconds{2});
  CHECK(restores());
  CHECK((agent->started == node_ids{0_node, 1_node, 2_node, 3_node, 2_node, 3_node}));
  CHECK(events_of(job_event::kind::recovering).size() == 1);
}

TEST_CASE_FIXTURE(chief_alone, "a checkpoint that is loaded too late, after a node has died, begins nothing") {
  options.recovery = {.attempts_max = 3, .first_delay_secs = 1};
  start();
  kill(role::infeed);
  answer_flush();
  tell(boss, halted{1, 2_node});
  answer_flush();
  REQUIRE(phase() == shown_phase::recovering);
  tell(boss, restored{1, true, {10}, "/m/model.ckpt-10", {{"infeed/0", "batch 10"}}, {}, {}});
  CHECK(phase() == shown_phase::recovering);
  CHECK(node(role::replica).count<begin>() == 0);
  let_pass(std::chrono::seconds{2});
  CHECK(node(role::checkpoint_writer).last<restore>().attempt == 2);
  tell(boss, restored{2, true, {10}, "/m/model.ckpt-10", {{"infeed/0", "batch 10"}}, {}, {}});
  CHECK(phase() == shown_phase::training);
  CHECK(node(role::replica).last<begin>().attempt == 2);
}

TEST_CASE_FIXTURE(recovering_chief, "the lease of a commit that arrives after its attempt has ended is given back") {
  fail_and_halt();
  let_pass(std::chrono::seconds{2});
  const auto before = node(role::checkpoint_writer).count<unlease>();
  commit(20);
  REQUIRE(node(role::checkpoint_writer).count<unlease>() == before + 1);
  CHECK(node(role::checkpoint_writer).last<unlease>().id == checkpoint_id{20});
}

TEST_CASE("training goes on only once the hooks have heard that the job has recovered") {
  recovering_chief c{true};
  c.fail_and_halt();
  c.answer_hooks();
  c.let_pass(std::chrono::seconds{2});
  c.restore_at_10();
  CHECK(c.phase() == shown_phase::recovering);
  CHECK(c.node(role::callbacks).last<fact>().news.what == job_event::kind::recovered);
  CHECK(c.node(role::replica).order() == after_connecting<begin>());
  c.answer_hooks();
  CHECK(c.phase() == shown_phase::training);
  CHECK(c.node(role::replica).count<troupe::run>() > 0);
}

namespace {

struct recovering_session : chief_alone {
  recovering_session() {
    options.session = true;
    options.recovery = {.attempts_max = 3, .first_delay_secs = 1};
    train();
  }
};

}  // namespace

TEST_CASE_FIXTURE(recovering_session, "who waits for variables while the job recovers gets those of the next attempt") {
  const auto wanted = [&] { return node(role::replica).count<read_variables>(); };
  tell(boss, read_variables{0, 1, {"a", "b"}});
  REQUIRE(wanted() == 1);
  CHECK(node(role::replica).last<read_variables>().attempt == 1);
  kill(role::replica);
  answer_flush();
  tell(boss, variables_read{1, 7, 0});  // Nobody has asked for it.
  tell(boss, save_failed{1, 0, error{errc::aborted, "lacks a part"}});
  tell(boss, halted{1, 3_node});
  answer_flush();
  let_pass(std::chrono::seconds{2});
  tell(boss, read_variables{0, 2, {"c"}});
  CHECK(wanted() == 0);
  tell(boss, restored{2, false, {0}, "", {}, {}, {}});
  REQUIRE(phase() == job_progress::phase::training);
  CHECK(wanted() == 2);
  const auto value = tensor::scalar(1.5f);
  tell(boss, variables_read{1, 1, 0, true, {value, value}});
  CHECK_MESSAGE(board->readings.empty(), "an answer of the attempt that failed");
  tell(boss, variables_read{2, 1, 0, true, {value, value}});
  tell(boss, variables_read{2, 2, 0, false, {}, error{errc::not_found, "there is no 'c'"}});
  REQUIRE(board->readings.size() == 2);
  CHECK(board->readings[0].number == 1);
  CHECK(board->readings[0].values == std::map<std::string, tensor>{{"a", value}, {"b", value}});
  CHECK(board->readings[1].failure->message == "there is no 'c'");
  for (uint64_t n = 100; n < 200; ++n) {
    tell(boss, read_variables{0, n, {"taken back"}});
    tell(boss, read_variables{0, n, {}});
  }
  CHECK(node(role::replica).last<read_variables>().names.empty());
  for (uint64_t n = 3; n < 3 + 65; ++n)
    tell(boss, read_variables{0, n, {"a"}});
  REQUIRE(board->readings.size() == 3);
  CHECK(board->readings[2].number == 3 + 64);
  CHECK(board->readings[2].failure->category == errc::resource_exhausted);
}

}  // namespace troupe::test
