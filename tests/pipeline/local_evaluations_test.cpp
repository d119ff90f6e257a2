// Evaluations beside training, in whole simulated jobs: which checkpoints are evaluated, and which export is final.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// The steps of the evaluations after which exporters are called: `last` of the final ones, `each` of the others.
struct occasions {
  steps each, last;
};

/// A job with an exporter that records its calls in `seen`.
training_job noting(const small_job_options& o, occasions& seen) {
  auto job = describe_small(o);
  job.evaluations.front().exports_at_end = true;
  job.evaluations.front().exports = [&seen](const export_surroundings&,
                                            const export_occasion& now) -> expected<std::vector<std::string>> {
    (now.is_final ? seen.last : seen.each).push_back(static_cast<int64_t>(now.metrics.at("global_step")));
    return std::vector<std::string>{""};
  };
  return job;
}

}  // namespace

TEST_CASE(
    "[EST-74] without a throttle every checkpoint but the first is evaluated, and the last one alone is exported as "
    "the final one") {
  for (const auto when : {evaluation_mode::waits, evaluation_mode::beside}) {
    occasions seen;
    simulated_job job{*prepare(noting({.max_steps = 22, .save_steps = 10, .evaluates = true, .when = when}, seen)), 1};
    const auto result = run_to_end(job);
    CHECK(result.metrics.at("global_step") == 22);
    CHECK(seen.last == steps{22});
    CHECK(seen.each == steps_of(job.events(), kind::evaluated));
    if (when == evaluation_mode::waits)
      CHECK(seen.each == steps{10, 20, 22});
  }
}

TEST_CASE("[EST-78] data that end at step 13 are evaluated there, and that is no final export") {
  for (const std::optional<int64_t> max_steps : {std::optional<int64_t>{22}, {}}) {
    occasions seen;
    // 13 batches.
    auto description = noting({.save_steps = 10, .evaluates = true, .input = small_dataset(52).batch(4)}, seen);
    description.max_steps = max_steps;
    simulated_job job{*prepare(std::move(description)), 1};
    CHECK(run_to_end(job).metrics.at("global_step") == 13);
    CHECK(seen.each == steps{10, 13});
    CHECK(seen.last.empty());
  }
}

TEST_CASE("[EST-68] without max_steps, or before them, no export is the final one, unless a rule has ended the job") {
  for (const std::optional<int64_t> max_steps : {std::optional<int64_t>{}, {1000}})
    for (const bool ends_by_rule : {false, true}) {
      occasions seen;
      auto description = noting({.evaluates = true}, seen);
      description.max_steps = max_steps;
      if (ends_by_rule)
        description.stop_early = {stop_if_higher("loss", -1, {.min_steps = 10})};
      simulated_job job{*prepare(std::move(description)), 1};
      if (!ends_by_rule) {
        REQUIRE(job.crank_until([&] { return job.progress().step >= 12; }));
        job.ask(request::stop);
      }
      CHECK(run_to_end(job).stopped != ends_by_rule);
      CHECK(seen.each.size() >= 2);
      CHECK(seen.last == (ends_by_rule ? steps{10} : steps{}));
    }
}

TEST_CASE("[EST-75] with a long throttle the first real checkpoint and the last one are evaluated") {
  simulated_job job{prepare_small({.max_steps = 22, .save_steps = 10, .evaluates = true, .throttle_secs = 1e6}), 1};
  run_to_end(job);
  CHECK(steps_of(job.events(), kind::evaluated) == steps{10, 22});
}

TEST_CASE(
    "a new job evaluates its first state if it is asked to, once, whenever it is killed, and a resumed one does not") {
  const auto described = [](const std::shared_ptr<file_system>& files, int64_t max_steps) {
    auto job = describe_small({.max_steps = max_steps, .save_steps = 10, .evaluates = true, .files = files});
    job.evaluates_first = true;
    job.evaluations.front().sanity_batches = 0;
    job.basis.config.recovery.attempts_max = 3;
    return job;
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto disk = memory_disk::make();
    {
      simulated_job job{*prepare(described(disk, 22)), seed};
      if (seed > 10) {
        job.crank_some(seed, 10, 400);
        job.kill("replica/0");
      }
      run_to_end(job);
      CHECK(steps_of(job.events(), kind::evaluated) == steps{0, 10, 20, 22});
    }
    simulated_job job{*prepare(described(disk, 32)), seed};
    run_to_end(job);
    CHECK(steps_of(job.events(), kind::evaluated) == steps{30, 32});
  }
}

TEST_CASE("checkpoints that are too few steps after the one evaluated before are passed over, but for the last") {
  auto description = describe_small({.max_steps = 22, .save_steps = 3, .evaluates = true});
  description.evaluations.front().least_steps = 7;
  simulated_job job{*prepare(std::move(description)), 1};
  run_to_end(job);
  CHECK(steps_of(job.events(), kind::evaluated) == steps{3, 12, 21, 22});
}

TEST_CASE("an evaluation that waits sees the state of its step, and no later step runs meanwhile") {
  small_job_options o{.max_steps = 20, .evaluates = true};
  simulated_job job{prepare_small(o), 9};
  bool ran_ahead = false;
  while (job.progress().now != job_progress::phase::finished) {
    REQUIRE(job.crank());
    const auto& events = job.events();
    if (!events.empty() && events.back().what == kind::saved && events.back().step % 5 == 0 && events.back().step > 0)
      ran_ahead = ran_ahead || job.progress().step > events.back().step;
  }
  CHECK_FALSE(ran_ahead);
}

TEST_CASE("evaluations beside training skip superseded checkpoints and never the last one") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    simulated_job job{prepare_small({.max_steps = 40, .evaluates = true, .when = evaluation_mode::beside}), seed};
    run_to_end(job);
    const auto evaluated = steps_of(job.events(), kind::evaluated);
    REQUIRE_FALSE(evaluated.empty());
    CHECK(evaluated.back() == 40);
    CHECK(std::is_sorted(evaluated.begin(), evaluated.end()));
  }
}

}  // namespace troupe::test
