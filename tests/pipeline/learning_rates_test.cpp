// Whole simulated jobs whose learning rates are scaled by hooks during training.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"

#include <troupe/hooks.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <map>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// Scales the rate by `factor`, at the evaluation of state `at` or at the gate of step `at`. Stops the job at the gate
/// of step `stops_at`.
struct scales final : hook {
  int64_t at = 5, stops_at = 0;
  double factor = 0.5;
  bool at_evaluation = true;
  needs begin(int64_t) override {
    needs all{.holds = {.evaluated = at_evaluation}};
    for (const int64_t step : {at_evaluation ? 0 : at, stops_at})
      if (step > 0)
        all.steps.push_back({.first = step, .gate = true});
    return all;
  }
  void on_event(const job_event& e, job_control& job) override {
    if (at_evaluation && e.what == kind::evaluated && e.step == at)
      job.scale_rate(factor);
  }
  void on_step(const step_facts& facts, job_control& job) override {
    if (facts.step == stops_at)
      job.stop();
    else
      job.scale_rate(factor);
  }
};

std::shared_ptr<scales> scaling(int64_t at, double factor, bool at_evaluation = true) {
  const auto hook = std::make_shared<scales>();
  hook->at = at;
  hook->factor = factor;
  hook->at_evaluation = at_evaluation;
  return hook;
}

/// Plain gradient descent. Its rate is that of the model for the first `steps` steps, and then `factor` times that
/// rate.
model descent(double factor, int64_t steps) {
  optimizer by = gradient_descent{.rate = 0.5f};
  if (steps > 0)
    by.schedule = piecewise_constant{{steps - 1}, {0.5f, static_cast<float>(0.5 * factor)}};
  return small_model(0.2, by);
}

}  // namespace

TEST_CASE(
    "a rate that is scaled at an evaluated state holds from exactly that state on, with the bits of a schedule, for "
    "one replica and two") {
  for (const int64_t replicas : {1, 2})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      small_job_options o{.max_steps = 12,
                          .save_steps = 5,
                          .replicas = replicas,
                          .shards = 2,
                          .evaluates = true,
                          .source = descent(1, 0)};
      o.hooks = {scaling(5, 0.5)};
      const auto scaled = state_at_end(o, seed);
      small_job_options by_schedule{
          .max_steps = 12, .save_steps = 5, .replicas = replicas, .shards = 2, .source = descent(0.5, 5)};
      CHECK(same_state(scaled, state_at_end(by_schedule, seed)));
    }
}

TEST_CASE(
    "a job that is resumed from the state at which the rate was scaled, or from a later one, goes on with that rate") {
  const auto whole = [] {
    small_job_options o{.max_steps = 14, .save_steps = 5, .evaluates = true};
    o.hooks = {scaling(5, 0.25)};
    return state_at_end(o);
  }();
  for (const int64_t interrupted : {5, 7, 10}) {
    CAPTURE(interrupted);
    small_job_options o{.max_steps = 14, .save_steps = 5, .evaluates = true};
    const auto stops = scaling(5, 0.25);
    stops->stops_at = interrupted;
    o.hooks = {stops};
    REQUIRE(state_at_end(o).id.step == interrupted);
    o.hooks = {};
    const auto resumed = state_at_end(o);
    REQUIRE(resumed.tensors.size() == whole.tensors.size());
    for (size_t i = 0; i < whole.tensors.size(); ++i)
      CHECK_MESSAGE(resumed.tensors[i].value == whole.tensors[i].value, whole.tensors[i].name);
  }
}

TEST_CASE(
    "a rate that is scaled at a gate, or at an evaluation, is kept through recoveries from commits before, at and "
    "after that state") {
  for (const bool at_evaluation : {false, true}) {
    const int64_t at = at_evaluation ? 5 : 7;
    small_job_options o{.max_steps = 14, .save_steps = 5, .evaluates = at_evaluation, .recovers = 10};
    o.hooks = {scaling(at, 0.25, at_evaluation)};
    const auto whole = state_at_end(o);
    std::map<int64_t, int> recovered_from;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
      CAPTURE(at_evaluation);
      CAPTURE(seed);
      o.files = memory_disk::make();
      o.hooks = {scaling(at, 0.25, at_evaluation)};
      simulated_job job{prepare_small(o), seed};
      job.crank_some(seed, 0, at_evaluation ? 450 : 250);
      job.kill(seed % 2 == 0 ? "replica/0" : "infeed/0");
      CHECK(same_state(state_at_end(job, o.files), whole));
      for (const auto& e : job.events())
        if (e.what == kind::recovered)
          ++recovered_from[e.step];
    }
    CHECK((recovered_from[0] > 5 && recovered_from[5] > 5 && recovered_from[10] > 5));
  }
}

TEST_CASE("two reductions are kept through recoveries from the states at which they were made") {
  small_job_options o{.max_steps = 14, .save_steps = 5, .evaluates = true, .recovers = 10};
  o.hooks = {scaling(5, 0.5), scaling(10, 0.25)};
  const auto whole = state_at_end(o);
  int64_t from_the_second = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    o.files = memory_disk::make();
    o.hooks = {scaling(5, 0.5), scaling(10, 0.25)};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 10; }));
    job.crank_some(seed, 0, 120);
    job.kill("replica/0");
    CHECK(same_state(state_at_end(job, o.files), whole));
    for (const auto& e : job.events())
      from_the_second += e.what == kind::recovered && e.step == 10 ? 1 : 0;
  }
  CHECK(from_the_second > 20);
}

TEST_CASE("a rate that was halved and then doubled at one state is the model's again, also after a stop there") {
  small_job_options o{.max_steps = 14, .save_steps = 5, .evaluates = true};
  o.hooks = {scaling(5, 0.5), scaling(10, 2)};
  const auto whole = state_at_end(o);
  o.files = memory_disk::make();
  const auto stops = scaling(10, 2);
  stops->stops_at = 10;
  o.hooks = {scaling(5, 0.5), stops};
  REQUIRE(state_at_end(o).id.step == 10);
  o.hooks = {};
  const auto resumed = state_at_end(o);
  REQUIRE(resumed.tensors.size() == whole.tensors.size());
  for (size_t i = 0; i < whole.tensors.size(); ++i)
    CHECK_MESSAGE(resumed.tensors[i].value == whole.tensors[i].value, whole.tensors[i].name);
}

TEST_CASE("a factor that no rate can have is a warning, and changes nothing") {
  small_job_options plain{.max_steps = 8, .evaluates = true};
  const auto wanted = state_at_end(plain);
  for (const double factor :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    small_job_options o{.max_steps = 8, .evaluates = true};
    o.hooks = {scaling(5, factor)};
    simulated_job job{prepare_small(o), 1};
    REQUIRE(job.wait(std::chrono::hours{2})->has_value());
    CHECK(same_state(newest_checkpoint(o.files).content, wanted));
    bool warned = false;
    for (const auto& e : job.events())
      warned = warned || (e.what == kind::warning && e.text.starts_with("the learning rate cannot be multiplied by "));
    CHECK(warned);
  }
}

TEST_CASE("factors whose product would be 0 are refused, and the rate stays above 0") {
  small_job_options o{.max_steps = 8, .evaluates = true};
  o.hooks = {scaling(5, 1e-30), scaling(5, 1e-30)};
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.wait(std::chrono::hours{2})->has_value());
  std::vector<std::string> said;
  for (const auto& e : job.events())
    if (e.what == kind::warning)
      said.push_back(e.text.substr(0, 40));
  REQUIRE(said.size() == 2);
  CHECK(said[1] == "the learning rate cannot be multiplied b");
  CHECK(newest_checkpoint(o.files).content.properties.at("rate_factor") == "1e-30");
}

TEST_CASE(
    "reduce_on_plateau halves the rate from the evaluated state on, once an evaluation too many has not improved") {
  // No loss improves by 1,000, so every evaluation after the first counts as one without improvement.
  const auto hook = reduce_on_plateau({.factor = 0.5, .patience = 1, .min_delta = 1000});
  REQUIRE(hook);
  small_job_options o{.max_steps = 12, .save_steps = 2, .evaluates = true, .source = descent(1, 0)};
  o.hooks = {*hook};
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.wait(std::chrono::hours{2})->has_value());
  std::vector<std::string> said;
  for (const auto& e : job.events())
    if (e.what == kind::warning)
      said.push_back(e.text);
  // States 2 to 12 are evaluated. Those of 4 and 6 do not improve, which halves the rate; then those of 8 and 10.
  CHECK(said
        == std::vector<std::string>{"from step 6 on learning rates are multiplied by 0.5",
                                    "from step 10 on learning rates are multiplied by 0.25"});
}

}  // namespace troupe::test
