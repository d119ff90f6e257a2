// Values that are not finite: at which step a job reports them, and which states it has saved before.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

using kind = job_event::kind;

}  // namespace

TEST_CASE("[EST-27] a loss that is not a number in the step to state 3 leaves no checkpoint 3, where one was due") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<float> x(48 * 8, 0.25f);
    x[9 * 8 + 2] = std::numeric_limits<float>::quiet_NaN();  // In batch 2 of 4 rows, which the third step takes.
    auto data = dataset::from_tensors({{"x", tensor::of<float>({48, 8}, x)}},
                                      {{"y", tensor::zeros(dtype::int32, {48})}});
    REQUIRE(data);
    small_job_options o{.max_steps = 40, .save_steps = 3, .input = data->batch(4).repeat()};
    simulated_job job{prepare_small(o), seed};
    CAPTURE(seed);
    const auto e = failure_of(job);
    CHECK(e.category == errc::nan_loss);
    CHECK(e.step == 2);
    CHECK(steps_of(job.events(), kind::saved) == steps{0});
    auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
    REQUIRE(store);
    CHECK((*store)->listed() == ids({0}));
    CHECK((*store)->restore({3}).error().category == errc::not_found);
  }
}

TEST_CASE(
    "[EST-44] a loss of infinity is an error as one that is no number; where such a step stops the job, the state "
    "before it is saved, a warning says why, and the job can go on from there") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const int64_t replicas : {1, 2})
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        std::vector<float> x(48 * 8, 0.25f);
        x[9 * 8 + 2] = bad;  // In batch 2 of 4 rows, which the third step takes.
        auto data = dataset::from_tensors({{"x", tensor::of<float>({48, 8}, x)}},
                                          {{"y", tensor::zeros(dtype::int32, {48})}});
        REQUIRE(data);
        small_job_options o{
            .max_steps = 40, .save_steps = 10, .replicas = replicas, .shards = 2, .input = data->batch(4).repeat()};
        {
          simulated_job job{prepare_small(o), seed};
          const auto e = failure_of(job);
          CHECK(e.category == errc::nan_loss);
          CHECK(e.step == 2);
          CHECK(steps_of(job.events(), kind::saved) == steps{0});
        }
        o.files = memory_disk::make();
        const auto run = [&] {
          auto description = describe_small(o);
          description.basis.config.on_not_finite = not_finite::stop;
          auto prepared = prepare(std::move(description));
          REQUIRE(prepared);
          simulated_job job{*prepared, seed};
          auto result = job.wait(std::chrono::hours{2});
          REQUIRE(result.has_value());
          REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
          CHECK(job.left().empty());
          CHECK((*result)->remark.starts_with(
              "stopped before step 2, which is not finite: nan_loss: the loss is not finite"));
          CHECK(steps_of(job.events(), kind::warning) == steps{2});
          for (const auto& e : job.events())
            CHECK((e.what != kind::warning || e.text == (*result)->remark));
          return std::pair{**result, steps_of(job.events(), kind::saved)};
        };
        const auto [first, saved] = run();
        CHECK(first.stopped);
        CHECK(first.global_step == 2);
        CHECK(saved == steps{0, 2});
        const auto [again, none] = run();
        CHECK(again.global_step == 2);
        CHECK(again.steps_run == 0);
        CHECK(none == steps{});
      }
}

TEST_CASE(
    "an evaluation of the state before a step that is not finite may be not finite either, and is a warning where the "
    "job was to stop") {
  small_job_options o{.max_steps = 40,
                      .save_steps = 10,
                      .evaluates = true,
                      .source = small_model(0.2, gradient_descent{.rate = 1e30f})};
  auto description = describe_small(o);
  description.basis.config.on_not_finite = not_finite::stop;
  auto prepared = prepare(std::move(description));
  REQUIRE(prepared);
  simulated_job job{*prepared, 1};
  const auto result = job.wait(std::chrono::hours{2});
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
  CHECK((*result)->stopped);
  CHECK((*result)->global_step < 10);
  CHECK(steps_of(job.events(), kind::warning).size() == 2);
  CHECK(steps_of(job.events(), kind::evaluated).empty());
}

TEST_CASE(
    "[DF-31] a weight that overflows in step 2 of 4 with its loss finite fails the save after them, which names it; a "
    "watch is shown these steps") {
  struct watching final : hook {
    steps seen;
    // The gate lets step 4 begin only after step 3 is shown.
    needs begin(int64_t) override { return {.steps = {{.first = 1, .every = 1}, {.first = 3, .gate = true}}}; }
    void on_step(const step_facts& facts, job_control&) override {
      seen.push_back(facts.step);
      CHECK(std::isfinite(facts.values.at("loss").as<float>()[0]));
    }
  };
  for (uint64_t seed = 1; seed <= 10; ++seed)
    for (const int64_t replicas : {1, 2}) {
      const auto watch = std::make_shared<watching>();
      small_job_options o{.max_steps = 40, .save_steps = 4, .replicas = replicas, .hooks = {watch}};
      o.source = model{"overflow", [](graph& g, const features& f, const labels&, mode m) {
                         const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::constant(1e38)});
                         model_spec spec;
                         spec.mode = m;
                         // The loss stays finite when the variable overflows: w is 1e38 at first, then 2.5e38, then
                         // infinity.
                         spec.loss = reduce_mean(scale(f["x"], 0)) - reduce_mean(clip(w, -3e38, 3e38));
                         spec.optimizer = gradient_descent{.rate = 1.5e38f};
                         return spec;
                       }};
      simulated_job job{prepare_small(o), seed};
      CAPTURE(seed);
      const auto e = failure_of(job);
      CAPTURE(to_text(e));
      CHECK(e.category == errc::nan_loss);
      CHECK(e.source == "checkpoint_writer");
      CHECK(e.message == "variable w is not finite; the checkpoint is not written");
      CHECK(e.step == 4);
      REQUIRE(watch->seen.size() >= 3);
      CHECK(std::equal(watch->seen.begin(), watch->seen.begin() + 3, steps{1, 2, 3}.begin()));
      CHECK(steps_of(job.events(), kind::saved) == steps{0});
      auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
      REQUIRE(store);
      CHECK((*store)->listed() == ids({0}));
      const auto stands = (*store)->restore_newest();
      REQUIRE(stands);
      for (const auto& t : stands->content.tensors)
        if (t.name == "w")
          CHECK(t.value == tensor::of<float>({1}, {1e38f}));
    }
}

}  // namespace troupe::test
