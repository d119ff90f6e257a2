#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/prediction_case.hpp"

#include <troupe/canned_models.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// Records its last call, `end` or `on_abort`.
struct farewell : hook {
  std::vector<int64_t> ends, aborts;
  void end(int64_t step) override { ends.push_back(step); }
  void on_abort(const error& cause) override { aborts.push_back(cause.step.value_or(-1)); }
};

}  // namespace

TEST_CASE("[EST-2] a job whose checkpoints are off by either setting or both saves none, not even at its end") {
  for (const bool by_steps : {true, false})
    for (const bool by_secs : {true, false}) {
      if (!by_steps && !by_secs)
        continue;
      small_job_options o;
      auto d = describe_small(o);
      const auto settled = resolve_config(
          {.model_dir = "/run",
           .save_checkpoints_steps = by_steps ? setting<int64_t>{std::nullopt} : setting<int64_t>{},
           .save_checkpoints_secs = by_secs ? setting<double>{std::nullopt} : setting<double>{}});
      REQUIRE(settled);
      d.basis.config = *settled;
      auto prepared = prepare(std::move(d));
      REQUIRE(prepared);
      simulated_job job{*prepared, 1};
      const auto result = run_to_end(job);
      CHECK(result.global_step == 20);
      CHECK(result.checkpoint.empty());
      CHECK(steps_of(job.events(), kind::saved).empty());
      auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
      CHECK((!store || (*store)->restore_newest().error().category == errc::not_found));
      CHECK_FALSE(o.files->info("/run/checkpoint"));
    }
}

TEST_CASE("[EST-22] a final step that is a multiple of save_checkpoints_steps is saved once") {
  simulated_job job{prepare_small({.max_steps = 10}), 1};
  run_to_end(job);
  CHECK(steps_of(job.events(), kind::saved) == steps{0, 5, 10});
}

TEST_CASE("[DF-33] saves every 100 steps land on exact multiples, whatever loops of 30 steps say") {
  small_job_options o{.max_steps = 230, .save_steps = 100, .loop = 30};
  simulated_job job{prepare_small(o), 1};
  run_to_end(job);
  CHECK(steps_of(job.events(), kind::saved) == steps{0, 100, 200, 230});
}

TEST_CASE("[EST-53] the job that resumes two hours later preserves what its predecessor saved an hour apart") {
  small_job_options o{.max_steps = 10};
  for (const double hour : {0, 2}) {
    auto d = describe_small(o);
    d.basis.config.keep_checkpoint_max = 1;
    d.basis.config.keep_checkpoint_every_n_hours = 1;
    auto prepared = prepare(d);
    REQUIRE(prepared);
    (*prepared)->wall_offset = 1.6e9 + 3600 * hour;
    simulated_job job{*prepared, 1};
    run_to_end(job);
    o.max_steps = 20;
  }
  auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
  CHECK((*store)->listed() == ids({20}));
  CHECK((*store)->restore({10}));
  CHECK((*store)->restore({5}).error().category == errc::not_found);
  CHECK((*store)->restore({15}).error().category == errc::not_found);
}

TEST_CASE("the same seed gives the same trace, another seed another trace and the same state") {
  small_job_options o{.replicas = 2, .evaluates = true};
  const auto run_once = [&](uint64_t seed) {
    o.files = memory_disk::make();
    simulated_job job{prepare_small(o), seed};
    run_to_end(job);
    return std::pair{job.trace_hash(), newest_checkpoint(o.files).content};
  };
  const auto first = run_once(1), again = run_once(1);
  CHECK(first.first == again.first);
  for (uint64_t seed = 2; seed < 12; ++seed) {
    const auto other = run_once(seed);
    CHECK(other.first != first.first);
    CHECK(same_state(other.second, first.second));
  }
}

TEST_CASE(
    "[SUP-61] a job that stops anywhere, evaluations in between, and goes on ends in the state of one that never "
    "stopped") {
  small_job_options whole{.max_steps = 23, .evaluates = true};
  std::map<std::string, double> metrics;
  {
    simulated_job job{prepare_small(whole), 1};
    metrics = run_to_end(job).metrics;
  }
  int64_t broken_runs = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options broken = whole;
    broken.files = memory_disk::make();
    train_result last;
    int64_t stops = 0;
    for (; last.global_step < 23; ++stops) {
      REQUIRE(stops < 50);
      simulated_job job{prepare_small(broken), seed * 100 + static_cast<uint64_t>(stops)};
      const int64_t at = job.turns() + 30 + static_cast<int64_t>(seed * 37 % 200);
      job.crank_until([&] { return job.turns() >= at; });
      job.ask(request::stop);
      last = run_to_end(job);
    }
    CAPTURE(seed);
    broken_runs += stops > 1;
    CHECK(same_state(newest_checkpoint(broken.files).content, newest_checkpoint(whole.files).content));
    CHECK(last.metrics == metrics);
  }
  CHECK(broken_runs >= 10);  // In some seeds the job ends before the stop.
}

TEST_CASE("[SUP-62] a job whose power fails anywhere goes on from its last commit to the same state") {
  small_job_options whole{.max_steps = 23};
  {
    simulated_job job{prepare_small(whole), 1};
    run_to_end(job);
  }
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    small_job_options broken = whole;
    auto disk = memory_disk::make();
    broken.files = disk;
    for (uint64_t crash = 0; crash < 4; ++crash) {
      simulated_job job{prepare_small(broken), seed * 10 + crash};
      const auto at = static_cast<int64_t>(40 + seed * 53 % 300);
      job.crank_until([&] { return job.turns() >= at; });
      disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = seed});
    }
    simulated_job job{prepare_small(broken), seed};
    CAPTURE(seed);
    CHECK(run_to_end(job).global_step == 23);
    CHECK(same_state(newest_checkpoint(broken.files).content, newest_checkpoint(whole.files).content));
  }
}

TEST_CASE(
    "a job with a schedule, a warm-up and averages that stops and goes on ends in the state of one that never "
    "stopped") {
  const optimizer by{.rule = adam{.rate = 0.01f},
                     .schedule = cosine_decay{.decay_steps = 20},
                     .warmup_steps = 6,
                     .moving_average = 0.9f};
  small_job_options whole{.source = small_model(0.2, by)}, broken{.source = small_model(0.2, by)};
  {
    simulated_job job{prepare_small(whole), 1};
    run_to_end(job);
  }
  for (int64_t step : {3, 11}) {
    simulated_job job{prepare_small(broken), 1};
    job.crank_until([&] { return job.progress().step >= step; });
    job.ask(request::stop);
    CHECK(run_to_end(job).stopped);
  }
  simulated_job job{prepare_small(broken), 1};
  run_to_end(job);
  CHECK(same_state(newest_checkpoint(broken.files).content, newest_checkpoint(whole.files).content));
}

TEST_CASE("a model that keeps averages is evaluated with them, and trained as if it did not") {
  std::vector<double> losses;
  std::vector<tensor> variables;
  for (const float average : {0.0f, 1e-30f, 0.95f}) {
    small_job_options o{.evaluates = true,
                        .source = small_model(0, optimizer{.rule = adam{.rate = 0.05f}, .moving_average = average})};
    simulated_job job{prepare_small(o), 1};
    losses.push_back(run_to_end(job).metrics.at("loss"));
    for (const auto& t : newest_checkpoint(o.files).content.tensors)
      if (t.name == "dense/kernel")
        variables.push_back(t.value);
  }
  CHECK(losses[1] == doctest::Approx(losses[0]));
  CHECK(losses[2] > 1.05 * losses[0]);  // The averages lag some steps behind.
  REQUIRE(variables.size() == 3);
  CHECK(variables[1] == variables[0]);
  CHECK(variables[2] == variables[0]);
}

TEST_CASE("a replica that owns no slice of a model of three cache lines goes on after a snapshot as the others do") {
  small_job_options o{.replicas = 4, .shards = 4, .source = linear_classifier({.classes = 3})};
  simulated_job job{prepare_small(o), 3};
  CHECK(run_to_end(job).global_step == 20);
  CHECK(steps_of(job.events(), kind::saved) == steps{0, 5, 10, 15, 20});
}

TEST_CASE("R may change between runs: a checkpoint of two replicas is gone on with by one") {
  small_job_options whole{.max_steps = 20, .replicas = 1, .shards = 2};
  {
    simulated_job job{prepare_small(whole), 1};
    run_to_end(job);
  }
  small_job_options changed{.max_steps = 20, .replicas = 2, .shards = 2};
  {
    simulated_job job{prepare_small(changed), 1};
    job.crank_until([&] { return job.progress().step >= 7; });
    job.ask(request::stop);
    CHECK(run_to_end(job).stopped);
  }
  changed.replicas = 1;
  simulated_job job{prepare_small(changed), 1};
  run_to_end(job);
  CHECK(same_state(newest_checkpoint(changed.files).content, newest_checkpoint(whole.files).content));
}

TEST_CASE("[EST-20] data that end before max_steps finish the job cleanly, with a checkpoint where they ended") {
  const auto left = std::make_shared<farewell>();
  small_job_options o{.max_steps = 10, .input = small_dataset(28).shuffle().batch(4), .hooks = {left}};  // 7 batches.
  simulated_job job{prepare_small(o), 5};
  const auto result = run_to_end(job);
  CHECK(result.global_step == 7);
  CHECK(result.remark == "the data ended at step 7, before max_steps 10");
  CHECK(left->ends == steps{7});
  CHECK(left->aborts.empty());
  CHECK(newest_checkpoint(o.files).content.id.step == 7);
  CHECK(newest_checkpoint(o.files).content.properties.at("finished") == "true");
}

TEST_CASE(
    "a second run of a finished job adds its steps and starts the data anew; one of an interrupted job goes on in "
    "them") {
  const auto seven = small_dataset(28).batch(4);  // 7 batches, not repeated.
  small_job_options o{.max_steps = 7, .input = seven};
  {
    simulated_job job{prepare_small(o), 1};
    run_to_end(job);
  }
  o.max_steps = 12;
  simulated_job job{prepare_small(o), 1};
  CHECK(run_to_end(job).steps_run == 5);

  small_job_options broken{.max_steps = 12, .save_steps = 2, .input = seven};
  {
    simulated_job first{prepare_small(broken), 1};  // Destroyed before its end, as by a crash.
    REQUIRE(first.crank_until([&] { return first.progress().committed_step >= 2; }));
  }
  REQUIRE(newest_checkpoint(broken.files).content.id.step < 7);
  simulated_job second{prepare_small(broken), 1};
  CHECK(run_to_end(second).global_step == 7);
}

TEST_CASE("two hosts whose data end at different steps both stop at the smaller one, cleanly") {
  // Of seven batches host 0 reads four and host 1 three.
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    small_job_options o{.replicas = 2, .hosts = 2, .input = small_dataset(28).shuffle().batch(4)};
    simulated_job job{prepare_small(o), seed};
    CAPTURE(seed);
    const auto result = run_to_end(job);
    CHECK(result.global_step == 3);
    const auto end = newest_checkpoint(o.files).content;
    CHECK(end.id.step == 3);
    CHECK(end.blobs.contains("infeed/0"));
    CHECK(end.blobs.contains("infeed/1"));
  }
}

TEST_CASE("[EST-28] data without a batch are an error that says so, and no step is run") {
  const auto known = prepare(describe_small({.input = small_dataset(3).batch(4)}));
  REQUIRE_FALSE(known);
  CHECK(known.error()
        == error{errc::invalid_argument,
                 "batch(4, drop_remainder = true) leaves nothing of the 3 elements before it, in tensors -> batch(4)"});
  // If the number of batches is unknown, the first read finds that there is none.
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const small_job_options o{.input = dataset_over(fake_batches(0)), .source = echo_model()};
    simulated_job job{prepare_small(o), seed};
    auto result = job.wait(std::chrono::hours{1});
    REQUIRE(result);
    REQUIRE_FALSE(result->has_value());
    CHECK(result->error().category == errc::out_of_range);
    CHECK(result->error().message == "the dataset has no batches");
    CHECK(result->error().source == "infeed/0");
    CHECK(job.progress().step == 0);
    CHECK(steps_of(job.events(), kind::progress).empty());
    CHECK(job.left().empty());
  }
}

TEST_CASE("a save every few seconds is placed at the horizon and does not change the arithmetic") {
  small_job_options by_steps{.max_steps = 30, .save_steps = 30};
  {
    simulated_job job{prepare_small(by_steps), 1};
    run_to_end(job);
  }
  small_job_options by_time{.max_steps = 30, .save_secs = 1};
  simulated_job job{prepare_small(by_time), 1};
  run_to_end(job);
  CHECK(same_state(newest_checkpoint(by_time.files).content, newest_checkpoint(by_steps.files).content));
}

TEST_CASE(
    "a simulated job that is destroyed at any turn, the first included, leaves no actor that the world would wait "
    "for") {
  for (int turns = 0; turns < 60; ++turns) {
    simulated_job job{prepare_small({.replicas = 2, .evaluates = true}), 1};
    for (int i = 0; i < turns; ++i)
      job.crank();
    CHECK(job.turns() <= turns);
  }
}

TEST_CASE("a job without a model directory keeps nothing and still trains") {
  small_job_options o{.keeps = false};
  simulated_job job{prepare_small(o), 1};
  const auto result = run_to_end(job);
  CHECK(result.global_step == 20);
  CHECK(result.checkpoint.empty());
  CHECK(result.metrics.at("loss") > 0);
}

}  // namespace troupe::test
