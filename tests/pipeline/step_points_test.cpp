// The steps at which a job measures its speed, summarises, ends and saves, compared with those of the Estimator's
// hooks, which `step_timer` reproduces.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"

#include <troupe/step_timer.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// The steps at which a timer is due. It is asked after each of `runs` runs of `loop` steps, first at step `first`.
steps due(step_timer timer, int64_t runs, int64_t loop = 1, int64_t first = 1) {
  steps all;
  for (int64_t run = 0; run < runs; ++run)
    if (const int64_t step = first + run * loop; timer.due(step, 0)) {
      timer.trigger(step, 0);
      all.push_back(step);
    }
  return all;
}

struct outcome {
  train_result result;
  std::vector<job_event> events;
};

outcome run(training_job description) {
  auto prepared = prepare(std::move(description));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  world_conditions half_a_second;
  half_a_second.cost["replica"] = {std::chrono::milliseconds{500}, std::chrono::milliseconds{500}};
  simulated_job job{*prepared, 1, half_a_second};
  const auto result = run_to_end(job, std::chrono::hours{20});
  return {result, job.events()};
}

steps tagged(const std::vector<log_event>& events, const std::string& tag) {
  steps all;
  for (const auto& e : events)
    for (const auto& v : e.values)
      if (v.tag == tag)
        all.push_back(e.step);
  return all;
}

}  // namespace

TEST_CASE(
    "[EST-40] a timer has the speeds of 2 steps a second at 11 and 21, as the Estimator; a job tells its own at 10, 20 "
    "and 30, and writes those of each ten steps") {
  auto timer = *step_timer::every_steps(10);
  std::map<int64_t, double> speeds;
  for (int64_t step = 1; step <= 25; ++step)
    if (const double now = 0.5 * static_cast<double>(step); timer.due(step, now))
      if (const auto passed = timer.trigger(step, now))
        speeds[step] = static_cast<double>(passed->steps) / passed->seconds;
  CHECK(speeds == std::map<int64_t, double>{{11, 2.0}, {21, 2.0}});

  small_job_options o{.max_steps = 30};
  auto description = describe_small(o);
  description.basis.config.log_steps = 10;
  description.basis.config.summary_steps = 10;
  const auto job = run(std::move(description));
  CHECK(steps_of(job.events, kind::progress) == steps{10, 20, 30});
  // The speed since the summary before.
  const auto events = events_in(*o.files, "/run");
  CHECK(tagged(events, "global_step/sec") == steps{20, 30});
  std::map<int64_t, double> times;
  for (const auto& e : events)
    if (!e.values.empty())
      times[e.step] = e.wall_time;
  for (const auto& e : events)
    for (const auto& v : e.values)
      if (v.tag == "global_step/sec")
        CHECK(v.scalar == doctest::Approx(10 / (times.at(e.step) - times.at(e.step - 10))));
}

TEST_CASE(
    "[EST-41] a timer has the summaries at 1, 9, 17 and 25, as the Estimator; a job makes its own at 8, 16 and 24, "
    "says START once, and none for 0") {
  CHECK(due(*step_timer::every_steps(8), 30) == steps{1, 9, 17, 25});

  for (const int64_t every : {8, 0}) {
    small_job_options o{.max_steps = 30};
    auto description = describe_small(o);
    description.basis.config.summary_steps = every;
    run(std::move(description));
    const auto events = events_in(*o.files, "/run");
    CHECK(tagged(events, "loss") == (every > 0 ? steps{8, 16, 24} : steps{}));
    int starts = 0;
    for (const auto& e : events)
      starts += e.note && e.note->what == session_note::kind::start ? 1 : 0;
    CHECK(starts == (every > 0 ? 1 : 0));
  }
}

TEST_CASE("[EST-43] ten steps from step 5 end at 15; a job that stands at 5 makes no step towards 3") {
  small_job_options o{.max_steps = 5};
  run(describe_small(o));
  auto further = describe_small(o);
  further.max_steps.reset();
  further.steps = 10;
  CHECK(run(further).result.global_step == 15);

  small_job_options past{.max_steps = 5};
  run(describe_small(past));
  past.max_steps = 3;
  const auto none = run(describe_small(past)).result;
  CHECK(none.global_step == 5);
  CHECK(none.steps_run == 0);
}

TEST_CASE(
    "[EST-46] a timer has the Estimator's saves of coarse loops at 0, 120 and 240; a job saves at 0, 100, 200 and the "
    "end, 300") {
  CHECK(due(*step_timer::every_steps(100), 10, 30, 0) == steps{0, 120, 240});

  small_job_options o{.max_steps = 300, .save_steps = 100, .loop = 30};
  CHECK(steps_of(run(describe_small(o)).events, kind::saved) == steps{0, 100, 200, 300});
}

}  // namespace troupe::test
