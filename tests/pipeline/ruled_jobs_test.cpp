// Rules of early stopping in whole jobs: rules that already hold at the start, and predicates.
#include "messages/evaluation.hpp"
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/examination/examination.hpp"
#include "support/ended_jobs.hpp"
#include "tests/support/has.hpp"

#include <caf/type_erased_tuple.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// A rule that every loss fulfils.
stop_rule any_loss(int64_t min_steps = 0) { return stop_if_higher("loss", -1, {.min_steps = min_steps}); }

struct ruled {
  small_job_options options{.max_steps = 20, .save_steps = 5, .evaluates = true};

  training_job with(std::vector<stop_rule> rules, int64_t max_steps) const {
    auto job = describe_small(options);
    job.max_steps = max_steps;
    job.stop_early = std::move(rules);
    return job;
  }
  bool says_that_it_has_ended() const { return newest_checkpoint(options.files).content.properties.contains("ended"); }
};

}  // namespace

TEST_CASE_FIXTURE(
    ruled,
    "a rule that holds where a job comes to max_steps is recorded: with more steps the same job trains nothing") {
  for (const auto when : {evaluation_mode::waits, evaluation_mode::beside})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      options.files = memory_disk::make();
      options.when = when;
      const auto first = run_to_end(with({any_loss(20)}, 20), seed);
      CHECK(first.global_step == 20);
      CHECK_MESSAGE(first.remark.empty(), "it has done all that it should");
      CHECK(says_that_it_has_ended());
      const auto further = run_to_end(with({any_loss(20)}, 60), seed);
      CHECK(further.steps_run == 0);
      CHECK(further.remark.starts_with(
          "nothing to train: /run/model.ckpt-20 has ended early: loss higher than -1 from step 20 on"));
    }
}

TEST_CASE_FIXTURE(ruled, "a rule that is added to a job and holds already ends it where it stands, which is recorded") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    options.files = memory_disk::make();
    run_to_end(with({}, 20), seed);
    CHECK_FALSE(says_that_it_has_ended());
    std::vector<job_event> events;
    const auto further = run_to_end(with({any_loss()}, 60), seed, &events);
    CHECK(further.global_step == 20);
    CHECK(further.steps_run == 0);
    CHECK(has(further.remark, "has ended early: loss higher than -1: loss was "));
    CHECK(has(further.remark, "at step 5"));
    CHECK(steps_of(events, kind::evaluated).empty());
    CHECK(further.metrics.at("global_step") == 20);
    CHECK(says_that_it_has_ended());
  }
}

TEST_CASE_FIXTURE(
    ruled,
    "a process that was killed between an evaluation and the verdict on it leaves a job that trains no further") {
  int64_t without_verdict = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    options.files = memory_disk::make();
    {
      simulated_job job{*prepare(with({any_loss(10)}, 60)), seed};
      REQUIRE(job.crank_until(
          [&] { return read_evaluations(*options.files, "/run/eval").value_or(evaluation_history{}).size() == 2; }));
    }
    REQUIRE(newest_checkpoint(options.files).content.id.step == 10);
    without_verdict += says_that_it_has_ended() ? 0 : 1;
    CHECK(run_to_end(with({any_loss(10)}, 60), seed).global_step == 10);
    CHECK(says_that_it_has_ended());
  }
  CHECK(without_verdict > 10);
}

TEST_CASE_FIXTURE(ruled,
                  "a predicate that holds already ends a job where it stands, and one that does not lets it train") {
  run_to_end(with({}, 20));
  std::vector<size_t> seen;
  const auto rule = [&seen](size_t evaluations) {
    return stop_if("enough evaluations", [&seen, evaluations](const evaluation_history& history) {
      seen.push_back(history.size());
      return history.size() >= evaluations;
    });
  };
  CHECK(run_to_end(with({rule(6)}, 60)).global_step == 30);
  CHECK(seen == std::vector<size_t>{4, 5, 6});
  seen.clear();
  const auto again = run_to_end(with({stop_if("another one", rule(3).predicate)}, 60));
  CHECK(again.steps_run == 0);
  CHECK(has(again.remark, "/run/model.ckpt-30 has ended early: another one, at step 30"));
  CHECK(seen == std::vector<size_t>{6});
}

TEST_CASE_FIXTURE(ruled, "a replica that dies while a predicate is asked changes nothing of how the job ends") {
  const auto third = stop_if("third", [](const evaluation_history& history) { return history.size() >= 3; });
  int64_t recovered = 0;
  for (const auto when : {evaluation_mode::waits, evaluation_mode::beside})
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      CAPTURE(seed);
      options.files = memory_disk::make();
      options.when = when;
      options.recovers = 10;
      simulated_job job{*prepare(with({third, any_loss(60)}, 60)), seed};
      uint64_t asked = 0;
      job.watch([&](const auto&, const auto& to, const caf::type_erased_tuple& content) {
        asked += to == "evaluator" && content.match_elements<apply_rule>() ? 1 : 0;
      });
      REQUIRE(job.crank_until([&] { return asked > seed % 3; }));
      job.crank_some(seed, 0, 20);
      job.kill("replica/0");
      const auto result = run_to_end(job);
      CHECK(result.remark.starts_with("ended early: third, at step "));
      CHECK(says_that_it_has_ended());
      if (when == evaluation_mode::waits) {  // Beside training, some checkpoints are skipped.
        CHECK(result.remark == "ended early: third, at step 15");
        CHECK(result.global_step == 15);
      }
      recovered += steps_of(job.events(), kind::recovered).empty() ? 0 : 1;
    }
  CHECK(recovered > 100);
}

TEST_CASE_FIXTURE(ruled,
                  "a predicate that does not return is an error that names it, after its deadline; where an evaluator "
                  "may fail, training goes on") {
  for (const auto on_failure : {failure_policy::fail, failure_policy::go_on})
    for (const bool at_start : {false, true}) {
      CAPTURE(at_start);
      options.files = memory_disk::make();
      if (at_start)
        run_to_end(with({}, 10));
      auto description = with({stop_if("mine", [](const evaluation_history&) { return false; })}, 20);
      description.evaluations.front().on_evaluator_failure = on_failure;
      simulated_job job{*prepare(std::move(description)), 1};
      job.watch([&](const auto&, const auto& to, const caf::type_erased_tuple& content) {
        if (to == "evaluator" && content.match_elements<apply_rule>())
          job.hang("evaluator");
      });
      const auto result = job.wait(std::chrono::hours{2});
      REQUIRE(result.has_value());
      CHECK(job.now() >= chief_deadlines{}.hooks);
      CHECK(job.now() < chief_deadlines{}.hooks + chief_deadlines{}.stop + std::chrono::seconds{5});
      const std::string text = "chief waited too long for the predicate of the rule 'mine'";
      REQUIRE(result->has_value() == (on_failure == failure_policy::go_on));
      if (*result) {
        CHECK((*result)->global_step == 20);
        CHECK(std::any_of(job.events().begin(), job.events().end(),
                          [&](const auto& e) { return e.what == kind::warning && has(e.text, text); }));
      } else {
        CHECK(result->error().category == errc::deadline_exceeded);
        CHECK(result->error().message == text);
        CHECK(newest_checkpoint(options.files).content.id.step == (at_start ? 10 : 5));
      }
    }
}

TEST_CASE_FIXTURE(ruled, "a predicate is asked on the thread of its evaluator, and the chief answers meanwhile") {
  struct evaluating final : hook {
    std::thread::id on;
    needs begin(int64_t) override {
      on = std::this_thread::get_id();
      return {};
    }
  };
  const auto evaluation = std::make_shared<evaluating>();
  std::thread::id asked_on;
  std::atomic<bool> asked = false, released = false;
  auto description = with({stop_if("mine",
                                   [&](const evaluation_history&) {
                                     asked_on = std::this_thread::get_id();
                                     asked = true;
                                     asked.notify_all();
                                     released.wait(false);
                                     return true;
                                   })},
                          60);
  description.evaluations.front().data.hooks = {evaluation};
  const auto job = local_launcher{}.train(*prepare(std::move(description)));
  asked.wait(false);
  job->pause();
  while (!job->progress().paused)
    std::this_thread::yield();
  job->resume();
  released = true;
  released.notify_all();
  const auto result = job->wait(soon);
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
  CHECK((*result)->remark == "ended early: mine, at step 5");
  CHECK(asked_on == evaluation->on);
}

}  // namespace troupe::test
