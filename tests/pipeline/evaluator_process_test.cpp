// A chief and an evaluator in two processes over one model directory: what is evaluated, when, and what comes of it.
#include "storage/checkpoints/best_checkpoint.hpp"
#include "storage/checkpoints/judged.hpp"
#include "storage/examination/examination.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "support/followed_job.hpp"
#include "support/has.hpp"
#include "words/checkpoint_books.hpp"
#include "words/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using steps = std::vector<int64_t>;
using texts = std::vector<std::string>;
using namespace std::chrono_literals;

/// Writes down its calls; `goes_on` answers them.
struct witness : evaluation_listener {
  texts book;
  std::function<bool(const std::string&)> goes_on = [](const std::string&) { return true; };
  bool note(const std::string& what) {
    book.push_back(what);
    return goes_on(what);
  }
  bool before() override { return note("before"); }
  bool after(evaluation_outcome what, const evaluation_result* result) override {
    return note(std::string{to_string(what)} + (result ? " " + std::to_string(result->global_step) : ""));
  }
};

/// Holds the job at each step for `time`, which is below the deadline of hooks.
struct slow_steps : hook {
  std::weak_ptr<simulated_world> world;
  std::chrono::nanoseconds time;
  slow_steps(const std::shared_ptr<simulated_world>& in, std::chrono::nanoseconds each) : world(in), time(each) {}
  needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1, .gate = true}}}; }
  void on_step(const step_facts&, job_control&) override {
    if (const auto w = world.lock())
      w->spend(time);
  }
};

/// Takes `time` at the beginning of each evaluation.
struct slow_start : hook {
  std::weak_ptr<simulated_world> world;
  std::chrono::nanoseconds time;
  std::vector<std::chrono::nanoseconds> began;
  needs begin(int64_t) override {
    if (const auto w = world.lock()) {
      began.push_back(w->now());
      w->spend(time);
    }
    return {};
  }
};

}  // namespace

TEST_CASE("an evaluator in another process evaluates what a chief commits, the last one always, and both end") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const small_job_options o;
    two_processes both{seed};
    both.start_evaluator(describe_follower_small(o));
    both.start_chief(describe_judged_elsewhere(o));
    CHECK(both.success_of(*both.chief).global_step == 20);
    const auto result = both.success_of(*both.evaluator);
    CHECK(result.global_step == 20);
    CHECK(result.checkpoint == "/run/model.ckpt-20");
    CHECK(result.metrics.at("global_step") == 20);
    const auto records = records_in(*o.files);
    CHECK(records.at(20) == 1);
    CHECK(std::all_of(records.begin(), records.end(), [](const auto& r) { return r.second == 1; }));
  }
}

TEST_CASE(
    "[EST-80] an evaluator passes over what it has evaluated, warns every ten minutes that there is nothing new, and "
    "ends at max_steps") {
  two_processes both{1};
  small_job_options o{.max_steps = 30, .save_steps = 15};
  o.hooks = {std::make_shared<slow_steps>(both.world, 50s)};
  auto follower = describe_follower_small(o);
  const auto listener = std::make_shared<witness>();
  follower.evaluations.front().start_delay_secs = 120;
  follower.listeners = {listener};
  both.start_evaluator(std::move(follower));
  both.world->wait_until([] { return false; }, 1300s);  // No chief yet.
  CHECK(listener->book == texts{"missing", "missing"});
  both.start_chief(describe_judged_elsewhere(o));
  const auto end = both.success_of(*both.chief, 48h);
  CHECK(end.global_step == 30);
  CHECK(both.success_of(*both.evaluator).global_step == 30);
  CHECK(evaluated_in(*o.files) == steps{0, 15, 30});
  CHECK(listener->book
        == texts{"missing", "missing", "before", "evaluated 0", "no_new", "before", "evaluated 15", "no_new", "before",
                 "evaluated 30"});
  // Between two of its warnings there are ten minutes.
  std::vector<double> warned;
  for (const auto& e : both.evaluators.process().events())
    if (e.what == kind::warning) {
      CHECK(has(e.text, warned.size() < 2 ? "there is no checkpoint in /run" : "no checkpoint has followed"));
      CHECK((warned.empty() || e.seconds - warned.back() > 599));
      warned.push_back(e.seconds);
    }
  CHECK(warned.size() == 4);
}

TEST_CASE("[EST-80] an evaluator begins when its delay has passed, with the checkpoint that is the newest then") {
  two_processes both{1};
  small_job_options o{.max_steps = 30, .save_steps = 2};
  o.hooks = {std::make_shared<slow_steps>(both.world, 50s)};
  auto follower = describe_follower_small(o);
  const auto each = std::make_shared<slow_start>();
  each->world = both.world;
  follower.evaluations.front().data.hooks = {each};
  follower.evaluations.front().start_delay_secs = 120;
  both.start_chief(describe_judged_elsewhere(o));
  both.start_evaluator(std::move(follower));
  both.success_of(*both.evaluator, 48h);
  REQUIRE_FALSE(each->began.empty());
  CHECK(each->began.front() >= 120s);
  CHECK(each->began.front() < 121s);
  CHECK(evaluated_in(*o.files).front() == 4);
}

TEST_CASE(
    "[EST-82] the throttle counts from the beginning of an evaluation, and a listener hears of missing ones too") {
  for (const auto took : {45s, 70s}) {
    two_processes both{1};
    small_job_options o{.max_steps = 40, .save_steps = 1, .throttle_secs = 60};
    o.hooks = {std::make_shared<slow_steps>(both.world, 10s)};
    auto follower = describe_follower_small(o);
    const auto slow = std::make_shared<slow_start>();
    slow->world = both.world;
    slow->time = took;
    const auto listener = std::make_shared<witness>();
    follower.evaluations.front().data.hooks = {slow};
    follower.listeners = {listener};
    both.start_evaluator(std::move(follower));
    both.world->wait_until([] { return false; }, 700s);
    CHECK(listener->book == texts{"missing"});
    both.start_chief(describe_judged_elsewhere(o));
    both.success_of(*both.evaluator);
    REQUIRE(slow->began.size() > 2);
    for (size_t i = 1; i + 1 < slow->began.size(); ++i) {  // The last one is exempt.
      const auto apart = std::chrono::duration<double>(slow->began[i] - slow->began[i - 1]).count();
      CHECK(apart >= std::max(60.0, static_cast<double>(took.count())));
      CHECK(apart < (took == 45s ? 62 : 75));
    }
  }
}

TEST_CASE("each of several evaluations has its own throttle") {
  two_processes both{1};
  small_job_options o{.max_steps = 60, .save_steps = 1};
  o.hooks = {std::make_shared<slow_steps>(both.world, 10s)};
  auto follower = describe_follower_small(o);
  auto second = follower.evaluations.front();
  follower.evaluations.front().throttle_secs = 10'000;
  second.throttle_secs = 60;
  second.data.name = "often";
  follower.evaluations.push_back(std::move(second));
  follower.listeners.push_back(nullptr);
  both.start_chief(describe_judged_elsewhere(o));
  both.start_evaluator(std::move(follower));
  both.success_of(*both.evaluator);
  std::map<std::string, std::vector<double>> at;
  for (const auto& e : both.evaluators.process().events())
    if (e.what == kind::evaluated)
      at[e.evaluation].push_back(e.seconds);
  CHECK(at[""].size() == 2);  // The first and the last.
  const auto& often = at["often"];
  REQUIRE(often.size() > 5);
  for (size_t i = 1; i + 1 < often.size(); ++i) {
    CHECK(often[i] - often[i - 1] >= 60);
    CHECK(often[i] - often[i - 1] < 75);
  }
}

TEST_CASE("[EST-85] an evaluator ends with a job that finished before max_steps, having evaluated its last state") {
  small_job_options o{.max_steps = 1000, .input = small_dataset(48).batch(4)};
  two_processes both{1};
  both.start_evaluator(describe_follower_small(o));
  both.start_chief(describe_judged_elsewhere(o));
  CHECK(both.success_of(*both.chief).global_step == 12);
  CHECK(both.success_of(*both.evaluator).global_step == 12);
  CHECK(evaluated_in(*o.files).back() == 12);
}

TEST_CASE("data that end exactly where the job had saved leave a checkpoint that says so") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options o{.max_steps = 1000, .save_steps = 4, .input = small_dataset(48).batch(4)};
    two_processes both{seed};
    both.start_chief(describe_judged_elsewhere(o));
    CHECK(both.success_of(*both.chief).global_step == 12);
    CHECK(newest_books(o).finished == true);
  }
}

TEST_CASE(
    "a job that failed with its last save says that it has finished when it is started again, unless it may go on") {
  int64_t unsaid = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const small_job_options o{.save_steps = 3, .recovers = 2};
    {
      auto disturbed = o;
      const auto disk = faulty_file_system::around(o.files);
      disturbed.files = disk;
      simulated_job job{prepare_small(disturbed), seed};
      job.crank_until([&] { return job.progress().step >= 12; });
      disk->inject({.nth = 1 + static_cast<int64_t>(seed % 15), .category = errc::unavailable, .reason = "away"});
      REQUIRE(job.wait(2h));
    }
    if (newest_checkpoint(o.files).content.id.step != 20 || newest_books(o).finished.value_or(false))
      continue;
    ++unsaid;
    auto again = o;
    again.max_steps = seed % 2 == 0 ? 20 : 10;
    CHECK(run_to_end(again).steps_run == 0);
    CHECK(newest_books(o).finished.value_or(false) == (again.max_steps == 20));
  }
  CHECK(unsaid >= 4);
}

TEST_CASE("the word that a job has finished is written by the next attempt if the disk refused it") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto disk = faulty_file_system::around(memory_disk::make());
    small_job_options o{
        .max_steps = 1000, .save_steps = 4, .input = small_dataset(48).batch(4), .files = disk, .recovers = 1};
    disk->inject({.operation = file_operation::sync,
                  .category = errc::unavailable,
                  .reason = "input/output error",
                  .path_contains = "verdict"});
    two_processes both{seed};
    both.start_chief(describe_judged_elsewhere(o));
    CHECK(both.success_of(*both.chief).global_step == 12);
    CHECK(disk->failures() == 1);
    CHECK(newest_books(o).finished == true);
  }
}

TEST_CASE("a listener that says no ends an evaluator, before an evaluation or after one") {
  for (const std::string& at : {std::string{"before"}, std::string{"evaluated 5"}}) {
    const small_job_options o;
    two_processes both{1};
    auto follower = describe_follower_small(o);
    const auto listener = std::make_shared<witness>();
    listener->goes_on = [at](const std::string& what) { return what != at; };
    follower.listeners = {listener};
    both.start_chief(describe_judged_elsewhere({.max_steps = 5, .files = o.files}));
    both.success_of(*both.chief);
    both.start_evaluator(std::move(follower));
    const auto result = both.success_of(*both.evaluator);
    CHECK(result.stopped);
    CHECK(has(result.remark, "an evaluation_listener ended the evaluations"));
    CHECK(listener->book.back() == at);
  }
}

TEST_CASE("an evaluator's process reports what its actors have done, until it has ended") {
  small_job_options o{.max_steps = 400};
  two_processes both{1};
  both.start_evaluator(describe_follower_small(o));
  both.start_chief(describe_judged_elsewhere(o));
  both.world->crank_until([&] { return !both.evaluator->progress().evaluating.empty(); });
  const auto report = both.evaluator->report(1min);
  REQUIRE_MESSAGE(report, (report ? "" : to_text(report.error())));
  std::map<std::string, const actor_report*> by_role;
  for (const auto& a : report->actors) {
    CHECK(a.answered);
    by_role[a.role] = &a;
  }
  for (const std::string role : {"evaluator", "summary_writer", "checkpoint_watcher", "follower"}) {
    CAPTURE(role);
    REQUIRE(by_role.contains(role));
    CHECK(by_role[role]->messages > 0);
  }
  both.success_of(*both.evaluator);
  const auto late = both.evaluator->report(1min);
  REQUIRE_FALSE(late);
  CHECK(late.error().category == errc::state);
}

TEST_CASE("the second evaluator of a directory is told who owns the folder of its evaluations") {
  const small_job_options o;
  two_processes both{1};
  both.start_evaluator(describe_follower_small(o));
  both.world->crank_until([&] { return both.evaluator->progress().now == job_progress::phase::training; });
  process_launcher others{both.world, "second"};
  auto prepared = prepare(describe_follower_small(o));
  REQUIRE(prepared);
  const auto second = others.follow(std::move(*prepared));
  const auto result = both.result_of(*second);
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::failed_precondition);
  CHECK(has(result.error().message, "/run/eval"));
}

TEST_CASE("an evaluator waits for a chief that does not come, or that has gone, as long as it was told") {
  const small_job_options o;
  two_processes both{1};
  auto follower = describe_follower_small(o);
  follower.first_commit_within = 90s;
  both.start_evaluator(follower);
  const auto never = both.result_of(*both.evaluator);
  REQUIRE_FALSE(never);
  CHECK(never.error().category == errc::deadline_exceeded);
  CHECK(has(never.error().message, "waited 90 s for the chief's first checkpoint in /run"));
  CHECK(both.world->now() < 92s);

  both.start_chief(describe_judged_elsewhere(o));
  both.world->crank_until([&] { return both.chief->progress().committed_step >= 5; });
  both.kill_chief();
  follower.chief_within = 30s;
  both.start_evaluator(follower);
  const auto gone = both.result_of(*both.evaluator);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().category == errc::deadline_exceeded);
  CHECK(has(gone.error().message, "waited 30 s for a chief: nobody owns /run"));
}

TEST_CASE(
    "an evaluator whose directory can be read no longer ends after chief_wait_secs and says why, in one warning") {
  const small_job_options o{.max_steps = 4000};
  const auto disk = faulty_file_system::around(o.files);
  two_processes both{1, slow_training(1s)};
  auto follower = describe_follower_small(o);
  follower.basis.files = disk;
  follower.chief_within = 60s;
  both.start_evaluator(std::move(follower));
  both.start_chief(describe_judged_elsewhere(o));
  REQUIRE(both.world->crank_until([&] { return both.evaluator->progress().committed_step >= 5; }));
  both.kill_chief();
  REQUIRE(both.world->crank_until([&] { return evaluated_in(*o.files).size() == 2; }));
  disk->inject({.operation = file_operation::any, .category = errc::unavailable, .reason = "away", .for_ever = true});
  const auto result = both.result_of(*both.evaluator);
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::deadline_exceeded);
  CHECK(has(result.error().message, "for a directory that can be read: "));
  CHECK(has(result.error().message, "away"));
}

TEST_CASE("a process without evaluations waits for the end of the chief's job") {
  const small_job_options o;
  two_processes both{1};
  follower_job waits{.basis = small_basis(o)};
  both.start_evaluator(std::move(waits));
  both.start_chief(describe_judged_elsewhere(o));
  both.success_of(*both.chief);
  CHECK(both.success_of(*both.evaluator).global_step == 20);
}

TEST_CASE("a stop ends an evaluator and leaves the chief to its job") {
  const small_job_options o;
  two_processes both{3, slow_training(1s)};
  both.start_evaluator(describe_follower_small(o));
  both.start_chief(describe_judged_elsewhere(o));
  both.world->crank_until([&] { return !both.evaluator->progress().evaluations.empty(); });
  both.evaluator->stop(stop_reason::request);
  const auto result = both.success_of(*both.evaluator);
  CHECK(result.stopped);
  CHECK(both.success_of(*both.chief).global_step == 20);
}

}  // namespace troupe::test
