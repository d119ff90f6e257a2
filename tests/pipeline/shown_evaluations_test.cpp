// Whole simulated jobs that evaluate states without saving them.
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/examination/examination.hpp"
#include "support/ended_jobs.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;

struct shown {
  small_job_options options{.max_steps = 12, .save_steps = 10, .evaluates = true};
  int64_t every = 3;
  std::vector<stop_rule> rules = {};

  training_job description() const {
    auto job = describe_small(options);
    job.evaluations.front().every_steps = every;
    job.stop_early = rules;
    return job;
  }
  expected<train_result> run(uint64_t seed, std::vector<job_event>& events) const {
    auto prepared = prepare(description());
    REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
    simulated_job job{*prepared, seed};
    auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result.has_value());
    CHECK(job.left().empty());
    events = job.events();
    return *result;
  }
};

std::map<int64_t, double> losses_of(const std::vector<job_event>& events) {
  std::map<int64_t, double> all;
  for (const auto& e : events)
    if (e.what == kind::evaluated)
      all[e.step] = e.metrics.at("loss");
  return all;
}

}  // namespace

TEST_CASE_FIXTURE(
    shown,
    "[EST-48] every 3 steps and at the end the state is evaluated, saved or not, with the result that a checkpoint of "
    "it has") {
  options.max_steps = 14;
  // The expected results come from the same job with a save at every step.
  std::vector<job_event> events;
  std::map<int64_t, double> wanted;
  {
    shown saves{.options = {.max_steps = 14, .save_steps = 1, .shards = 2, .evaluates = true}, .every = 1'000'000};
    REQUIRE(saves.run(1, events));
    for (const auto& [step, loss] : losses_of(events))
      if (step % 3 == 0 || step == 10 || step == 14)
        wanted[step] = loss;
  }
  for (const int64_t replicas : {1, 2})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      options.files = memory_disk::make();
      options.replicas = replicas;
      options.shards = 2;
      const auto result = run(seed, events);
      REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
      CHECK(steps_of(events, kind::evaluated) == steps{3, 6, 9, 10, 12, 14});
      CHECK(losses_of(events) == wanted);
      CHECK(steps_of(events, kind::saved) == steps{0, 10, 14});
      for (const auto& e : events)
        if (e.what == kind::evaluated)
          CHECK(e.checkpoint.has_value() == (e.step == 10 || e.step == 14));
    }
}

TEST_CASE_FIXTURE(shown,
                  "a rule that applies to a state that is not saved ends the job there, and the state is saved") {
  rules = {stop_if_higher("loss", -1, {.min_steps = 5})};
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    options.files = memory_disk::make();
    std::vector<job_event> events;
    const auto result = run(seed, events);
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    CHECK(result->global_step == 6);
    CHECK(steps_of(events, kind::saved) == steps{0, 6});
    CHECK_MESSAGE((steps_of(events, kind::evaluated) == steps{3, 6}),
                  "the checkpoint of step 6 is of the state that was evaluated");
  }
}

TEST_CASE_FIXTURE(
    shown, "a state that is shown and then saved is evaluated once: its checkpoint can be the best, and is exported") {
  struct asks final : hook {
    bool saves = false;
    needs begin(int64_t) override { return {.steps = {{.first = 6, .gate = true}}, .holds = {.evaluated = true}}; }
    void on_step(const step_facts&, job_control& job) override {
      if (saves)
        job.save();
    }
    void on_event(const job_event& e, job_control& job) override {
      if (e.what == kind::evaluated && e.step == 6)
        job.stop();
    }
  };
  for (const bool saves : {false, true})  // Saved while it is shown, or at the end.
    for (const auto when : {evaluation_mode::waits, evaluation_mode::beside})
      for (uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(saves);
        CAPTURE(seed);
        options.files = memory_disk::make();
        options.when = when;
        const auto asking = std::make_shared<asks>();
        asking->saves = saves;
        options.hooks = {asking};
        auto job = description();
        job.keep_best = keep_best{.goal = {.metric = "global_step", .smaller_is_better = false}};
        std::vector<std::string> exported;
        job.evaluations.front().exports =
            [&exported](const export_surroundings&, const export_occasion& now) -> expected<std::vector<std::string>> {
          exported.push_back(now.checkpoint);
          return std::vector<std::string>{""};
        };
        std::vector<job_event> events;
        const auto result = run_to_end(std::move(job), seed, &events);
        CHECK(result.global_step == 6);
        CHECK(steps_of(events, kind::evaluated) == steps{3, 6});
        CHECK(result.best_checkpoint == "/run/model.ckpt-6");
        CHECK(newest_checkpoint(options.files).content.properties.at("best") == "6");
        CHECK(exported == std::vector<std::string>{"/run/model.ckpt-6"});
        CHECK(read_evaluations(*options.files, "/run/eval")->size() == 2);
      }
}

TEST_CASE_FIXTURE(
    shown,
    "whoever dies at whichever turn, the results are those of an undisturbed job, or the job fails; nobody is left") {
  options.recovers = 10;
  options.shards = 2;
  std::vector<job_event> undisturbed;
  REQUIRE(run(1, undisturbed));
  const auto wanted = losses_of(undisturbed);
  const std::vector<std::string> curable{"replica/0", "replica/1", "reducer", "infeed/0"};
  const std::vector<std::string> final{"evaluator", "evaluator/replica/0", "checkpoint_writer", "outfeed"};
  std::map<std::string, int> cured, failed;
  for (uint64_t seed = 1; seed <= 480; ++seed) {
    const auto& who = (seed % 2 == 0 ? curable : final)[seed / 2 % 4];
    CAPTURE(seed);
    CAPTURE(who);
    options.files = memory_disk::make();
    options.replicas = 1 + static_cast<int64_t>(seed / 8 % 2);
    options.reducers = who == "reducer";
    auto prepared = prepare(description());
    REQUIRE(prepared);
    simulated_job job{*prepared, seed};
    job.crank_some(seed, 0, 500);
    const bool killed = job.kill(who);
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result.has_value());
    CHECK(job.left().empty());
    if (*result) {
      CHECK(losses_of(job.events()) == wanted);
      cured[who] += steps_of(job.events(), kind::recovered).empty() ? 0 : 1;
    } else {
      CHECK(killed);
      CHECK(result->error().category == errc::aborted);
      ++failed[who];
    }
  }
  for (const auto& who : curable)
    CHECK_MESSAGE((cured[who] > 5 && failed[who] == 0), who);
  for (const auto& who : final)
    CHECK_MESSAGE((failed[who] > 5 && cured[who] == 0), who);
}

TEST_CASE_FIXTURE(shown,
                  "a state is shown once earlier checkpoints are evaluated, also where training does not wait for "
                  "that; results come in order") {
  options = {.max_steps = 14, .save_steps = 4, .evaluates = true, .when = evaluation_mode::beside};
  for (const int64_t each : {1, 3, 5})
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      CAPTURE(each);
      CAPTURE(seed);
      every = each;
      options.files = memory_disk::make();
      std::vector<job_event> events;
      const auto result = run(seed, events);
      REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
      const auto told = steps_of(events, kind::evaluated);
      CHECK(std::is_sorted(told.begin(), told.end()));
      for (int64_t step = each; step <= 14; step += each)
        CHECK(std::count(told.begin(), told.end(), step) > 0);
    }
}

TEST_CASE_FIXTURE(
    shown,
    "an evaluator that may fail and dies at whichever turn keeps no state from the others, and training goes on") {
  std::vector<job_event> events;
  REQUIRE(run(1, events));
  const auto wanted = losses_of(events);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    options.files = memory_disk::make();
    auto both = description();
    both.evaluations.push_back(both.evaluations.front());
    both.evaluations.back().data.name = "other";
    both.evaluations.back().on_evaluator_failure = failure_policy::go_on;
    auto prepared = prepare(std::move(both));
    REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
    simulated_job job{*prepared, seed};
    job.crank_some(seed, 0, 400);
    job.kill("evaluator/other");
    const auto result = job.wait(std::chrono::minutes{2});
    REQUIRE(result.has_value());
    REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
    std::map<int64_t, double> found;
    for (const auto& e : job.events())
      if (e.what == kind::evaluated && e.evaluation.empty())
        found[e.step] = e.metrics.at("loss");
    CHECK(found == wanted);
  }
}

TEST_CASE_FIXTURE(shown,
                  "a stop while the next attempt waits for the evaluation of a shown state ends the job; nothing is "
                  "trained any more") {
  // An evaluation takes longer than the delay before the next attempt.
  const world_conditions slow{.cost = {{"evaluator/replica", {std::chrono::seconds{5}, std::chrono::seconds{5}}}}};
  options.recovers = 10;
  for (const auto reason : {stop_reason::request, stop_reason::signal})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      simulated_job job{*prepare(description()), seed, slow};
      const auto is_evaluated = [&](int64_t step) {
        return !job.progress().evaluating.empty() && job.progress().evaluating.front().step == step;
      };
      REQUIRE(job.crank_until([&] { return is_evaluated(6); }));
      job.kill("replica/0");
      REQUIRE(job.crank_until([&] { return job.events().back().what == kind::recovering; }));
      const auto failed_at = job.now();
      REQUIRE(job.crank_until([&] { return job.now() > failed_at + std::chrono::seconds{2}; }));
      REQUIRE(is_evaluated(6));
      job.ask(request::stop, reason);
      CHECK(failure_of(job).source == "replica/0");
      for (const auto& e : job.events())
        CHECK(e.what != kind::recovered);
    }
}

TEST_CASE_FIXTURE(shown, "a save that is requested while a state is evaluated is made") {
  struct asks final : hook {
    needs begin(int64_t) override { return {.steps = {{.first = 3, .gate = true}}}; }
    void on_step(const step_facts&, job_control& job) override { job.save(); }
  };
  options.hooks = {std::make_shared<asks>()};
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    options.files = memory_disk::make();
    std::vector<job_event> events;
    REQUIRE(run(seed, events));
    CHECK(steps_of(events, kind::saved) == steps{0, 3, 10, 12});
  }
}

}  // namespace troupe::test
