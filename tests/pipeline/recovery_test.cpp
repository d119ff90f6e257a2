// Jobs that recover, in simulation: a job whose nodes die resumes from its last commit, and ends with the bits of an
// undisturbed job.
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "support/simulated_job.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <set>

namespace troupe::test {

namespace {

using kind = job_event::kind;

bool train_past(simulated_job& job, int64_t step) {
  return job.crank_until([&] { return job.progress().step >= step || job.ended(); });
}

bool has_note(const error& e, std::string_view text) {
  return std::any_of(e.notes.begin(), e.notes.end(), [text](const auto& note) { return has(note, text); });
}

/// Checks that events of kind `what` come in step order, at most one for each step.
void check_told_once(const std::vector<job_event>& events, kind what) {
  const auto told = steps_of(events, what);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(std::set<int64_t>(told.begin(), told.end()).size() == told.size());
}

dataset unavailable_at(int64_t batch, int times) {
  const auto well = small_dataset().shuffle().batch(4).repeat();
  auto node = std::make_shared<troubled_stage>(well.last_stage(), batch,
                                               [left = std::make_shared<int>(times)]() -> expected<void> {
                                                 if (*left == 0)
                                                   return {};
                                                 --*left;
                                                 return fail(errc::unavailable, "the file server does not answer");
                                               });
  return dataset{std::move(node)};
}

}  // namespace

TEST_CASE("a job whose replica, infeed or reducer is killed ends in the state of one that was never disturbed") {
  for (const int64_t replicas : {1, 2}) {
    const small_job_options whole{.max_steps = 30, .replicas = replicas, .evaluates = true};
    const auto expected_state = undisturbed(whole);
    for (const std::string node : {"replica/0", "infeed/0", "reducer"})
      for (uint64_t seed = 1; seed <= 12 && (replicas > 1 || node != "reducer"); ++seed) {
        CAPTURE(node);
        CAPTURE(replicas);
        CAPTURE(seed);
        auto o = whole;
        o.files = memory_disk::make();
        o.recovers = 10;
        o.reducers = node == "reducer";
        simulated_job job{prepare_small(o), seed};
        REQUIRE(train_past(job, static_cast<int64_t>(1 + seed * 2)));
        REQUIRE(job.kill(node));
        const auto result = run_to_end(job);
        CHECK(result.global_step == 30);
        CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
        CHECK(steps_of(job.events(), kind::recovering).size() == 1);
        CHECK(steps_of(job.events(), kind::recovered).size() == 1);
        CHECK(steps_of(job.events(), kind::started) == steps{0});
        check_told_once(job.events(), kind::saved);
        check_told_once(job.events(), kind::evaluated);
        CHECK(steps_of(job.events(), kind::evaluated) == steps{5, 10, 15, 20, 25, 30});
      }
  }
}

TEST_CASE(
    "[EST-29] a job of ten steps that recovers at step 6 goes on from the save of step 5 and saves it again; its last "
    "step is unchanged") {
  struct gate_at_6 final : hook {
    needs begin(int64_t) override { return {.steps = {{.first = 6, .gate = true}}}; }
  };
  for (const std::string node : {"replica/0", "infeed/0"}) {
    CAPTURE(node);
    small_job_options o{.save_steps = 5, .hooks = {std::make_shared<gate_at_6>()}, .recovers = 10};
    auto d = describe_small(o);
    d.max_steps.reset();
    d.steps = 10;
    auto prepared = prepare(std::move(d));
    REQUIRE(prepared);
    simulated_job job{*prepared, 3};
    const auto listed = [&] {
      const auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
      REQUIRE(store);
      return (*store)->listed();
    };
    REQUIRE(train_past(job, 1));
    job.hang("callbacks");
    REQUIRE(train_past(job, 6));
    REQUIRE(job.crank_until([&] { return job.progress().committed_step == 5; }));
    REQUIRE(job.kill(node));
    job.unhang("callbacks");
    REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering; }));
    // Whoever saves step 5 again moves it to the end of the list.
    REQUIRE(write_file_atomically(*o.files, "/run", "checkpoint",
                                  "model_checkpoint_path: \"model.ckpt-5\"\n"
                                  "all_model_checkpoint_paths: \"model.ckpt-5\"\n"
                                  "all_model_checkpoint_paths: \"model.ckpt-0\"\n"));
    REQUIRE(listed() == ids({5, 0}));
    REQUIRE(job.crank_until([&] { return listed() != ids({5, 0}); }));
    CHECK(listed() == ids({0, 5}));
    const auto result = run_to_end(job);
    CHECK(result.global_step == 10);
    CHECK(result.steps_run == 10);
    CHECK(listed() == ids({0, 5, 10}));
    CHECK(steps_of(job.events(), kind::recovering) == steps{6});
    CHECK(steps_of(job.events(), kind::recovered) == steps{5});
    CHECK(steps_of(job.events(), kind::saved) == steps{0, 5, 10});
  }
}

TEST_CASE("before the first step, and before the first commit, an attempt begins anew from initial values") {
  const small_job_options whole{.max_steps = 10};
  const auto expected_state = undisturbed(whole);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    auto o = whole;
    o.files = memory_disk::make();
    o.recovers = 10;
    simulated_job job{prepare_small(o), seed};
    for (uint64_t turn = 0; turn < 2 * seed; ++turn)
      job.crank();
    job.kill(seed % 2 == 0 ? "replica/0" : "infeed/0");
    run_to_end(job);
    CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
    CHECK(steps_of(job.events(), kind::started) == steps{0});
  }
}

TEST_CASE("a node that dies again while the job recovers costs another attempt, and no bits") {
  const small_job_options whole{.max_steps = 20, .replicas = 2};
  const auto expected_state = undisturbed(whole);
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    auto o = whole;
    o.files = memory_disk::make();
    o.recovers = 10;
    simulated_job job{prepare_small(o), seed};
    REQUIRE(train_past(job, 7));
    REQUIRE(job.kill("replica/1"));
    REQUIRE(job.crank_until([&] { return !steps_of(job.events(), kind::recovering).empty(); }));
    for (uint64_t turn = 0; turn < seed; ++turn)
      job.crank();
    job.kill(seed % 3 == 0 ? "replica/1" : seed % 3 == 1 ? "replica/0" : "infeed/0");
    run_to_end(job);
    CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
  }
}

TEST_CASE(
    "a source that is unavailable for a while costs attempts, and no bits; one that stays so ends the job once the "
    "budget is spent") {
  const small_job_options whole{.max_steps = 20};
  const auto expected_state = undisturbed(whole);
  SUBCASE("for a while") {
    small_job_options o{.max_steps = 20, .input = unavailable_at(7, 1), .recovers = 10};
    simulated_job job{prepare_small(o), 5};
    run_to_end(job);
    CHECK(steps_of(job.events(), kind::recovered) == steps{5});
    CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
  }
  SUBCASE("at the same record each time") {
    small_job_options o{.max_steps = 20, .input = unavailable_at(3, 100), .recovers = 10};
    simulated_job job{prepare_small(o), 5};
    const auto e = failure_of(job);
    CHECK(e.category == errc::unavailable);
    CHECK(e.step == 3);
    CHECK(has_note(e, "10 attempts were made since the last commit"));
    CHECK(has_note(e, "an earlier attempt ended at step"));
    CHECK(steps_of(job.events(), kind::recovered) == steps(10));
  }
}

TEST_CASE("errors of the user's, and failures that leave the model well, are not recovered") {
  small_job_options o{.max_steps = 40, .recovers = 10};
  SUBCASE("a loss that is not finite") {
    o.source = small_model(0, 1e30);
    simulated_job job{prepare_small(o), 2};
    CHECK(failure_of(job).category == errc::nan_loss);
    CHECK(steps_of(job.events(), kind::recovering).empty());
  }
  SUBCASE("the death of the outfeed") {
    simulated_job job{prepare_small(o), 2};
    REQUIRE(train_past(job, 7));
    REQUIRE(job.kill("outfeed"));
    CHECK(failure_of(job).category == errc::aborted);
    CHECK(steps_of(job.events(), kind::recovering).empty());
  }
  SUBCASE("no checkpoints") {
    o.keeps = false;
    simulated_job job{prepare_small(o), 2};
    REQUIRE(train_past(job, 7));
    REQUIRE(job.kill("replica/0"));
    CHECK(has_note(failure_of(job), "it saves no checkpoints"));
  }
}

TEST_CASE("delays double, and the spent budget ends the job with the last error and all before it as notes") {
  small_job_options o{.max_steps = 400, .save_steps = 100, .recovers = 3};
  simulated_job job{prepare_small(o), 4};
  std::vector<std::chrono::nanoseconds> delays;
  for (int64_t attempt = 1; attempt <= 3; ++attempt) {
    REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::training; }));
    REQUIRE(job.kill("replica/0"));
    REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering; }));
    const auto began = job.now();
    REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::training; }));
    delays.push_back(job.now() - began);
  }
  for (size_t i = 0; i < delays.size(); ++i) {
    CHECK(delays[i] >= std::chrono::seconds{1 << i});
    CHECK(delays[i] <= std::chrono::seconds{1 << i} + std::chrono::seconds{1});
  }
  REQUIRE(job.kill("replica/0"));
  const auto e = failure_of(job);
  CHECK(e.category == errc::aborted);
  CHECK(has_note(e, "3 attempts were made since the last commit"));
  CHECK(std::count_if(e.notes.begin(), e.notes.end(),
                      [](const std::string& n) { return n.find("an earlier attempt ended at step") == 0; })
        == 3);
}

TEST_CASE("a stop or an abort during the delay ends the job at once, and the last commit stands") {
  small_job_options o{.max_steps = 40, .recovers = 10};
  simulated_job job{prepare_small(o), 6};
  REQUIRE(train_past(job, 7));
  REQUIRE(job.kill("replica/0"));
  REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering; }));
  const auto before = job.now();
  SUBCASE("a stop") { job.ask(request::stop); }
  SUBCASE("an abort") { job.ask(request::abort); }
  CHECK(failure_of(job).category == errc::aborted);
  CHECK(job.now() - before < std::chrono::milliseconds{900});
  CHECK(newest_checkpoint(o.files).content.id.step == job.progress().committed_step);
}

TEST_CASE(
    "a checkpoint that is damaged between two attempts: the next older whole one; none left: an error, and no fresh "
    "start") {
  small_job_options o{.max_steps = 20, .recovers = 10};
  const auto expected_state = undisturbed(o);
  simulated_job job{prepare_small(o), 8};
  REQUIRE(train_past(job, 11));
  REQUIRE(job.kill("replica/0"));
  REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering; }));
  SUBCASE("damaged") {
    const auto newest = newest_checkpoint(o.files);
    CHECK(newest.content.id.step >= 10);
    REQUIRE(o.files->remove(newest.prefix + "-00000-of-00001.safetensors"));
    run_to_end(job);
    CHECK(steps_of(job.events(), kind::recovered) == steps{newest.content.id.step - 5});
    CHECK_FALSE(steps_of(job.events(), kind::warning).empty());
    CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
    std::vector<job_event> since{
        std::find_if(job.events().begin(), job.events().end(), [](const auto& e) { return e.what == kind::recovered; }),
        job.events().end()};
    steps after;
    for (int64_t step = newest.content.id.step; step <= 20; step += 5)
      after.push_back(step);
    CHECK(steps_of(since, kind::saved) == after);
  }
  SUBCASE("none left") {
    const auto listed = o.files->list("/run");
    REQUIRE(listed);
    for (const auto& file : *listed)
      if (file.name.find("ckpt") != std::string::npos || file.name == "checkpoint")
        REQUIRE(o.files->remove("/run/" + file.name));
    const auto e = failure_of(job);
    CHECK(e.category == errc::not_found);
    CHECK(e.message.find("no checkpoint is left, and the job had saved one") == 0);
    CHECK(has_note(e, "an earlier attempt ended at step"));
  }
}

TEST_CASE("an event file has one value for each step, however often the job recovered") {
  small_job_options o{.max_steps = 30, .evaluates = true, .recovers = 10};
  auto d = describe_small(o);
  d.basis.config.summary_steps = 2;
  auto prepared = prepare(std::move(d));
  REQUIRE(prepared);
  simulated_job job{*prepared, 9};
  for (const int64_t step : {7, 13, 22}) {
    REQUIRE(train_past(job, step));
    REQUIRE(job.kill("replica/0"));
    REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering || job.ended(); }));
  }
  run_to_end(job);
  steps with_loss;
  for (const auto& e : events_in(*o.files, "/run"))
    for (const auto& v : e.values)
      if (v.tag == "loss")
        with_loss.push_back(e.step);
  steps all;
  for (int64_t s = 2; s <= 30; s += 2)
    all.push_back(s);
  CHECK(with_loss == all);
}

namespace {

/// Records its calls.
struct noting_hook final : hook {
  std::vector<std::string> calls;
  int64_t stops_at = -1;
  needs begin(int64_t step) override {
    calls.push_back("begin " + std::to_string(step));
    return {.steps = {{.first = 0, .every = 1}}};
  }
  void on_step(const step_facts& facts, job_control&) override {
    calls.push_back("step " + std::to_string(facts.step));
  }
  void on_event(const job_event& e, job_control&) override {
    if (e.what == kind::recovering || e.what == kind::recovered)
      calls.push_back(std::string{to_string(e.what)} + " " + std::to_string(e.step));
  }
  void end(int64_t step) override { calls.push_back("end " + std::to_string(step)); }
  void on_abort(const error&) override { calls.emplace_back("abort"); }
  int64_t count(const std::string& prefix) const {
    return std::count_if(calls.begin(), calls.end(), [&](const std::string& c) { return c.rfind(prefix, 0) == 0; });
  }
};

}  // namespace

TEST_CASE(
    "[SUP-18] begin is called once, recovered after each restoration, and the steps since the commit are shown again") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    auto seen = std::make_shared<noting_hook>();
    small_job_options o{.max_steps = 10, .hooks = {seen}, .recovers = 10};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(train_past(job, 7));
    REQUIRE(job.kill("replica/0"));
    run_to_end(job);
    CHECK(seen->count("begin") == 1);
    CHECK(seen->count("recovering") == 1);
    CHECK(seen->count("recovered 5") == 1);
    CHECK(seen->count("end 10") == 1);
    CHECK(seen->count("abort") == 0);
    // From the restoration to the end every step after the commit is shown once, in order.
    const auto from = std::find(seen->calls.begin(), seen->calls.end(), "recovered 5");
    std::vector<std::string> after{from + 1, seen->calls.end()};
    CHECK(after == std::vector<std::string>{"step 6", "step 7", "step 8", "step 9", "step 10", "end 10"});
  }
}

TEST_CASE("a node that dies once the end of the data is saved costs no second pass over them") {
  small_job_options o{
      .max_steps = 40, .evaluates = true, .input = small_dataset(48).shuffle().batch(4), .recovers = 10};
  simulated_job job{prepare_small(o), 3};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 11; }));
  job.hang("evaluator");
  REQUIRE(job.crank_until([&] { return job.progress().committed_step == 12; }));
  REQUIRE_FALSE(job.ended());
  REQUIRE(job.kill("replica/0"));
  REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering || job.ended(); }));
  job.unhang("evaluator");
  const auto result = run_to_end(job);
  CHECK(result.global_step == 12);
  CHECK(result.remark.find("the data ended at step 12, before max_steps 40") == 0);
  CHECK(steps_of(job.events(), kind::recovered) == steps{12});
  check_told_once(job.events(), kind::saved);
  CHECK(steps_of(job.events(), kind::evaluated) == steps{5, 10, 12});
}

TEST_CASE("a replica that does not end its step within the stop deadline is named, and no attempt follows") {
  small_job_options o{.max_steps = 40, .replicas = 2, .recovers = 10};
  simulated_job job{prepare_small(o), 3};
  REQUIRE(train_past(job, 7));
  job.hang("replica/1");
  REQUIRE(job.kill("replica/0"));
  const auto result = job.wait(std::chrono::hours{1});
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::aborted);
  CHECK(has_note(result->error(), "replica/1 did not end its step or its read"));
  CHECK(steps_of(job.events(), kind::recovering).empty());
  CHECK(job.left().empty());
}

}  // namespace troupe::test
