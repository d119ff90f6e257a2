// Runs of a session, in simulated worlds: what they make, fetch and feed, in which order hooks hear of them, and how a
// session ends.
#include "support/ended_jobs.hpp"
#include "support/prediction_case.hpp"
#include "support/simulated_session.hpp"
#include "support/virtual_time.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using namespace std::chrono_literals;

std::shared_ptr<signing_hook> signer_of(const std::string& name, texts& book, run_arguments wants = {}) {
  return std::make_shared<signing_hook>(name, book, std::move(wants));
}

error refused(session* s, const run_request& what) {
  const auto made = s->run(what);
  REQUIRE_FALSE(made);
  return made.error();
}

}  // namespace

TEST_CASE("a session makes the steps that its caller asks for, stands still in between, and has the bits of a job") {
  small_job_options o{.max_steps = 20, .replicas = 2};
  const auto state = undisturbed(o);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    o.files = memory_disk::make();
    simulated_session s{o, seed};
    int64_t stands = 0;
    for (const int64_t steps : {1, 3, 1, 7, 2}) {
      const auto made = s.run(steps);
      stands += steps;
      CHECK(made.step == stands);
      CHECK(made.steps_run == steps);
      CHECK(made.steps_taken_back == 0);
      CHECK(made.values.empty());
      for (int turn = 0; turn < 200; ++turn)
        s.crank();
      CHECK(s->progress().step == stands);
      CHECK_FALSE(s->should_stop());
    }
    const auto last = s.run(100);
    CHECK(last.step == 20);
    CHECK(last.steps_run == 6);
    CHECK(s->should_stop());
    CHECK(refused(s.operator->(), {}).category == errc::state);
    const auto result = s.close();
    CHECK(result.global_step == 20);
    CHECK_FALSE(result.stopped);
    CHECK(same_state(newest_checkpoint(o.files).content, state));
  }
}

TEST_CASE("a caller who is away for a week is waited for without a deadline, and saves by time go on") {
  small_job_options o{.max_steps = 20, .save_steps = std::nullopt, .save_secs = 600};
  simulated_session s{o};
  s.run(3);
  for (int hours = 0; hours < 24 * 7; ++hours) {
    s.pass(1h);
    for (int turn = 0; turn < 50; ++turn)
      s.crank();
  }
  CHECK(s->progress().step == 3);
  CHECK(s.run(2).step == 5);
  CHECK(s.close().global_step == 5);
  CHECK(steps_of(s.events(), kind::warning).empty());
}

TEST_CASE("a run fetches the loss of its last step, and a fetch of something else is refused by name") {
  small_job_options o{.max_steps = 12, .replicas = 2};
  struct watcher : hook {
    std::map<int64_t, double> losses;
    needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1}}}; }
    void on_step(const step_facts& f, job_control&) override { losses[f.step] = loss_in(f.values.at("loss")); }
    static double loss_in(const tensor& x) {
      return x.type() == dtype::float32 ? static_cast<double>(x.as<float>()[0]) : x.as<double>()[0];
    }
  };
  const auto seen = std::make_shared<watcher>();
  auto job_of = o;
  job_of.hooks = {seen};
  run_to_end(job_of);
  o.files = memory_disk::make();
  simulated_session s{o};
  for (const int64_t steps : {1, 4, 2}) {
    const auto made = s.run(steps, {"loss"});
    REQUIRE(made.values.size() == 1);
    CHECK(watcher::loss_in(made.values.at("loss")) == seen->losses.at(made.step));
  }
  const auto e = refused(s.operator->(), {.what = {.fetches = {"lost"}}});
  CHECK(e.category == errc::invalid_argument);
  CHECK(e.message == "the caller fetches 'lost', and a step of this model has 'loss', 'accuracy', 'average_loss'");
  CHECK(refused(s.operator->(), {.steps = 0}).message == "steps of a run must be at least 1, not 0");
  CHECK(s.run().step == 8);
  s.close();
}

TEST_CASE(
    "[SUP-9] two hooks are called in order at begin, once there are values, after creation, around each run and at the "
    "end") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    texts book;
    {
      simulated_session s{small_job_options{.max_steps = 2, .hooks = {signer_of("A", book), signer_of("B", book)}},
                          seed,
                          {.init_fn = [&](parameter_access&) -> expected<void> {
                            book.push_back("values");
                            return {};
                          }}};
      for (int64_t runs = 1; !s->should_stop(); ++runs)
        book.push_back("run to " + std::to_string(s.run().step));
      s.close();
      book.push_back("close");
    }
    CHECK(book
          == texts{"values", "begin 0 A", "begin 0 B", "create 0 A", "create 0 B", "before 0 A", "before 0 B",
                   "after 1 A", "after 1 B", "run to 1", "before 1 A", "before 1 B", "after 2 A", "after 2 B",
                   "run to 2", "end 2 A", "end 2 B", "close"});
  }
}

TEST_CASE("[SUP-26] in a chief's session its chief_hooks are called before the other hooks, at the end too") {
  texts book;
  simulated_session s{
      small_job_options{.max_steps = 1, .hooks = {signer_of("A", book)}}, 1, {.chief_hooks = {signer_of("C", book)}}};
  s.run();
  s.close();
  CHECK(book
        == texts{"begin 0 C", "begin 0 A", "create 0 C", "create 0 A", "before 0 C", "before 0 A", "after 1 C",
                 "after 1 A", "end 1 C", "end 1 A"});
}

TEST_CASE("[SUP-12] a hook without fetches gets none, and the caller gets what it named and nothing of the hooks") {
  texts book;
  const auto wants = signer_of("A", book, {.fetches = {"loss"}});
  const auto none = signer_of("B", book);
  simulated_session s{small_job_options{.max_steps = 5, .hooks = {wants, none}}};
  CHECK(s.run().values.empty());
  const auto made = s.run(1, {"loss"});
  REQUIRE(made.values.size() == 1);
  REQUIRE(wants->seen.size() == 2);
  CHECK(wants->seen[0].values.size() == 1);
  CHECK(wants->seen[1].values.at("loss") == made.values.at("loss"));
  CHECK(none->seen[1].values.empty());
  CHECK(none->asked[0].asked.fetches.empty());
  CHECK(none->asked[1].asked.fetches == texts{"loss"});
  CHECK(wants->seen[1].begins == 1);
  s.close();
}

TEST_CASE(
    "[SUP-13] a stop that a hook asks for after a run leaves other hooks their call, and the next run is refused") {
  for (const bool first_asks : {true, false})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      texts book;
      const auto a = signer_of("A", book), b = signer_of("B", book);
      (first_asks ? a : b)->after = [](int64_t step, job_control& job) {
        if (step == 3)
          job.stop();
      };
      small_job_options o{.replicas = 2, .hooks = {a, b}};
      simulated_session s{o, seed};
      while (!s->should_stop())
        s.run();
      CHECK(a->seen.size() == 3);
      CHECK(b->seen.size() == 3);
      const auto e = refused(s.operator->(), {});
      CHECK(e.category == errc::state);
      CHECK(s.close().global_step == 3);
      CHECK(newest_checkpoint(o.files).content.id.step == 3);
      CHECK(book.back() == "end 3 B");
    }
}

TEST_CASE(
    "[SUP-14] data that end in run 4 are out_of_range there, after_run is not called for it, and closing is clean") {
  for (const int64_t asked : {1, 5})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      texts book;
      const auto hook_ = signer_of("A", book);
      const small_job_options o{
          .max_steps = 10, .input = dataset_over(fake_batches(3)), .hooks = {hook_}, .source = echo_model()};
      simulated_session s{o, seed};
      for (int64_t runs = 1; runs <= 3; ++runs)
        CHECK(s.run().step == runs);
      const auto e = refused(s.operator->(), {.steps = asked});
      CHECK(e.category == errc::out_of_range);
      CHECK(e.message == "the data ended at step 3, before max_steps 10");
      CHECK(s->should_stop());
      CHECK(hook_->asked.size() == 4);
      CHECK(hook_->seen.size() == 3);
      const auto result = s.close();
      CHECK(result.global_step == 3);
      CHECK(book.back() == "end 3 A");
    }
}

TEST_CASE("data that end within a run are out_of_range, and the steps before are made") {
  const small_job_options o{.max_steps = 10, .input = dataset_over(fake_batches(3)), .source = echo_model()};
  simulated_session s{o};
  CHECK(s.run(2).step == 2);
  CHECK(refused(s.operator->(), {.what = {.fetches = {"loss"}}, .steps = 5}).category == errc::out_of_range);
  CHECK(s.close().global_step == 3);
}

TEST_CASE("[SUP-15] input that is not found in run 4 fails that run and aborts the hooks in reverse order") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    texts book;
    const auto source = fake_batches(100);
    source->trouble = {{3, error{errc::not_found, "no such file"}}};
    const small_job_options o{.max_steps = 10,
                              .input = dataset_over(source),
                              .hooks = {signer_of("A", book), signer_of("B", book)},
                              .source = echo_model()};
    simulated_session s{o, seed};
    for (int runs = 1; runs <= 3; ++runs)
      s.run();
    CHECK(refused(s.operator->(), {}).category == errc::not_found);
    CHECK(s->should_stop());
    const auto closed = s->close();
    REQUIRE_FALSE(closed);
    CHECK(closed.error().category == errc::not_found);
    CHECK(s.left().empty());
    CHECK(texts(book.end() - 3, book.end()) == texts{"before 3 B", "abort -1 B", "abort -1 A"});
  }
}

TEST_CASE("[SUP-17] a session is closed once, and what fails in a hook's begin is what opening it fails with") {
  SUBCASE("twice") {
    simulated_session s{small_job_options{}};
    s.run();
    s.close();
    const auto again = s->close();
    REQUIRE_FALSE(again);
    CHECK(again.error().category == errc::state);
    CHECK(again.error().message == "the session is closed");
    CHECK(refused(s.operator->(), {}).message == "the session is closed");
    CHECK_FALSE(s->save());
    CHECK(s->should_stop());
  }
  SUBCASE("begin") {
    struct thrower : hook {
      needs begin(int64_t) override { throw std::runtime_error("no"); }
    };
    texts book;
    simulated_session s{small_job_options{.hooks = {signer_of("A", book), std::make_shared<thrower>()}}};
    REQUIRE_FALSE(s.opened());
    CHECK(s.opened().error().category == errc::state);
    CHECK_MESSAGE(s.opened().error().message.find("begin() of hooks[1]") != std::string::npos,
                  s.opened().error().message);
    CHECK(book.back() == "abort -1 A");
  }
}

TEST_CASE("[SUP-21] a run cancelled while work beside it holds not_found keeps its error, and notes the other") {
  const auto source = fake_batches(100);
  source->trouble = {{8, error{errc::cancelled, "the data broke off"}}};
  const small_job_options o{.max_steps = 20, .input = dataset_over(source), .source = echo_model(), .recovers = 10};
  simulated_session s{o};
  s.run(6);
  s.watch([&](const std::string&, const std::string&, const caf::type_erased_tuple&) {
    if (s->progress().step >= 7)
      static_cast<void>(s->beside().request_stop(error{errc::not_found, "no such table"}));
  });
  const auto made = refused(s.operator->(), {.steps = 10});
  s.watch({});
  CHECK(s->should_stop());
  const auto closed = s->close();
  REQUIRE_FALSE(closed);
  CHECK(made == closed.error());
  CHECK(made.message == "the data broke off");
  CHECK(made.category == errc::cancelled);
  CHECK(made.notes == texts{"work beside the runs: not_found: no such table"});
}

TEST_CASE("[SUP-23] a thread that has not left 120 s after the close is named in a line, and the close completes") {
  const auto clock = std::make_shared<virtual_time>();
  const small_job_options o{.max_steps = 20};
  texts lines;
  simulated_session s{describe_small(o),
                      1,
                      {.log = [&](const std::string& line) { lines.push_back(line); }},
                      {},
                      system_time(),
                      {.beside = coordinator{{.clean = {}, .clock = clock}}}};
  s.run(2);
  const auto here = s->beside().enlist("reader");
  CHECK(s.close().global_step == 2);
  CHECK(clock->seconds() == 120);
  CHECK(lines == texts{"'reader' did not end within 120 s of the stop"});
  CHECK(newest_checkpoint(o.files).content.id.step == 2);
}

TEST_CASE("a save between two runs returns the prefix of a checkpoint of that state") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    small_job_options o{.max_steps = 20, .save_steps = 100};
    simulated_session s{o, seed};
    s.run(3);
    const auto saved = s->save();
    REQUIRE(saved);
    CHECK(*saved == "/run/model.ckpt-3");
    CHECK(newest_checkpoint(o.files).content.id.step == 3);
    CHECK(*s->save() == *saved);
    CHECK(s.run(2).step == 5);
    CHECK(s.close().checkpoint == "/run/model.ckpt-5");
  }
  simulated_session none{small_job_options{.max_steps = 20, .keeps = false}};
  none.run();
  const auto saved = none->save();
  REQUIRE_FALSE(saved);
  CHECK(saved.error().category == errc::failed_precondition);
  none.close();
}

TEST_CASE("a stop that is asked for between runs saves, and a session that goes away saves nothing") {
  small_job_options o{.max_steps = 20, .save_steps = 100};
  {
    simulated_session s{o};
    s.run(3);
    s->request_stop();
    CHECK(s->should_stop());
    CHECK(refused(s.operator->(), {}).category == errc::state);
    const auto result = s.close();
    CHECK(result.stopped);
    CHECK(result.global_step == 3);
  }
  CHECK(newest_checkpoint(o.files).content.id.step == 3);
  {
    simulated_session s{o};
    CHECK(s->progress().step == 3);
    CHECK(s.run(3).step == 6);
  }
  CHECK(newest_checkpoint(o.files).content.id.step == 3);
}

TEST_CASE("a session whose job has no steps left is open, should stop, and closes with the job's result") {
  small_job_options o{.max_steps = 5};
  run_to_end(o);
  simulated_session s{o};
  CHECK(s->should_stop());
  CHECK(refused(s.operator->(), {}).category == errc::state);
  CHECK(s.close().global_step == 5);
}

TEST_CASE("variables of the state where a session stands are those that a checkpoint of it has") {
  const small_job_options o{.max_steps = 12, .save_steps = 3, .replicas = 2, .recovers = 10};
  simulated_session s{o};
  std::vector<std::string> names;
  for (const int64_t steps : {3, 1, 5}) {
    s.run(steps);
    if (steps == 1)
      s.kill("replica/0");
    REQUIRE(s->save());
    const auto saved = newest_checkpoint(o.files).content;
    names.clear();
    for (const auto& t : saved.tensors)
      if (t.name != "global_step")
        names.push_back(t.name);
    REQUIRE(names.size() > 4);
    const auto found = s->variables(names);
    REQUIRE_MESSAGE(found, (found ? "" : to_text(found.error())));
    CHECK(found->step == saved.id.step);
    REQUIRE(found->values.size() == names.size());
    for (const auto& t : saved.tensors)
      if (t.name != "global_step")
        CHECK_MESSAGE(found->values.at(t.name) == t.value, t.name);
  }
  const auto unknown = s->variables({names.front(), "dense/kernl"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "the model has no variable or slot 'dense/kernl'");
  s.close();
  CHECK(s->variables(names).error().message == "the session is closed");
}

TEST_CASE("a caller who waits for variables of a job that does not answer is told what the job does") {
  const small_job_options o{.max_steps = 12};
  simulated_session s{o};
  s.run(2);
  s.hang("replica/0");
  const auto found = s->variables({"dense/kernel"}, 5s);
  REQUIRE_FALSE(found);
  CHECK(found.error().category == errc::deadline_exceeded);
  CHECK(found.error().message == "the job is training and has not read the variables within 5000 ms");
}

}  // namespace troupe::test
