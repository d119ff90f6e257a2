// Failures in simulation: each error names category, actor, step and cause, and the job ends in time, without a living
// actor, and with a last commit that can be resumed.
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

#include <set>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// Runs the job to its end, and checks what holds for every failure.
error fail_of(simulated_job& job, const std::shared_ptr<file_system>& files,
              std::chrono::nanoseconds within = std::chrono::minutes{3}) {
  const auto began = job.now();
  auto e = failure_of(job);
  CHECK(job.now() - began <= within);
  CHECK(job.progress().now == job_progress::phase::failed);
  REQUIRE_FALSE(job.events().empty());
  CHECK(job.events().back().what == kind::failed);
  if (files)
    CHECK(newest_checkpoint(files).content.id.step >= 0);
  return e;
}

/// Checks that a second job on the same directory ends in the state of an undisturbed job.
void check_goes_on(small_job_options o) { CHECK(same_state(state_at_end(o, 2), undisturbed(o))); }

bool train_past(simulated_job& job, int64_t step) {
  return job.crank_until([&] { return job.progress().step >= step || !steps_of(job.events(), kind::failed).empty(); });
}

}  // namespace

TEST_CASE("a replica that dies fails the job without a last save, and names it") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (int64_t replicas : {1, 2}) {
      small_job_options o{.max_steps = 40, .replicas = replicas};
      simulated_job job{prepare_small(o), seed};
      REQUIRE(train_past(job, 7));
      REQUIRE(job.kill("replica/" + std::to_string(replicas - 1)));
      const auto e = fail_of(job, o.files);
      CAPTURE(seed);
      CHECK(e.category == errc::aborted);
      CHECK(e.source == "replica/" + std::to_string(replicas - 1));
      CHECK(e.step.value_or(-1) >= 7);
      CHECK(has(e.message, "it was killed"));
      CHECK(newest_checkpoint(o.files).content.id.step % 5 == 0);
    }
  }
}

TEST_CASE("an infeed that dies fails the job without a last save, and the job can be gone on with") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options o{.max_steps = 40};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(train_past(job, 7));
    REQUIRE(job.kill("infeed/0"));
    const auto e = fail_of(job, o.files);
    CAPTURE(seed);
    CHECK(e.category == errc::aborted);
    CHECK(e.source == "infeed/0");
    CHECK(e.step.has_value());
    if (seed < 4)
      check_goes_on(o);
  }
}

TEST_CASE("an outfeed that dies fails the job after a last save at the horizon") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options o{.max_steps = 400, .save_steps = 1000};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(train_past(job, 7));
    REQUIRE(job.kill("outfeed"));
    const auto e = fail_of(job, o.files);
    CAPTURE(seed);
    CHECK(e.category == errc::aborted);
    CHECK(e.source == "outfeed");
    CHECK(newest_checkpoint(o.files).content.id.step >= 7);  // The only commit so far was that of step 0.
  }
}

TEST_CASE("a checkpoint writer that dies is restarted once for a last save, then the job fails") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options o{.max_steps = 400, .save_steps = 50};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(train_past(job, 57));
    REQUIRE(job.kill("checkpoint_writer"));
    const auto e = fail_of(job, o.files);
    CAPTURE(seed);
    CHECK(e.category == errc::aborted);
    CHECK(e.source == "checkpoint_writer");
    CHECK(newest_checkpoint(o.files).content.id.step >= 57);
    if (seed < 4)
      check_goes_on(o);
  }
}

TEST_CASE("an evaluator that dies fails the job after a last save") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options o{.max_steps = 400, .save_steps = 10, .evaluates = true};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(train_past(job, 13));
    REQUIRE(job.kill("evaluator"));
    const auto e = fail_of(job, o.files);
    CAPTURE(seed);
    CHECK(e.category == errc::aborted);
    CHECK_MESSAGE(e.source == "evaluator", to_text(e));
    CHECK(newest_checkpoint(o.files).content.id.step >= 13);
  }
}

TEST_CASE("a node of the evaluation that dies fails the job and names the evaluation's checkpoint") {
  small_job_options o{.max_steps = 400, .save_steps = 10, .evaluates = true};
  simulated_job job{prepare_small(o), 4};
  REQUIRE(job.crank_until([&] { return job.progress().step == 10 && !job.progress().evaluating.empty(); }));
  REQUIRE(job.crank_until([&] { return job.kill("evaluator/replica/0"); }));
  const auto e = fail_of(job, o.files);
  CHECK(e.category == errc::aborted);
  CHECK(e.source == "evaluator");
  REQUIRE_FALSE(e.notes.empty());
  CHECK(e.notes.front() == "while evaluating the checkpoint of step 10");
}

TEST_CASE("a full disk fails the job with resource_exhausted, the step and the file; older checkpoints stay") {
  for (const auto operation :
       {file_operation::create, file_operation::append, file_operation::sync, file_operation::rename}) {
    auto disk = faulty_file_system::around(memory_disk::make());
    small_job_options o{.max_steps = 40, .files = disk};
    simulated_job job{prepare_small(o), 3};
    REQUIRE(job.crank_until([&] { return steps_of(job.events(), kind::saved).size() == 2; }));
    disk->inject({.operation = operation, .path_contains = "model.ckpt-10"});
    const auto e = fail_of(job, o.files);
    CHECK(e.category == errc::resource_exhausted);
    CHECK(e.source == "checkpoint_writer");
    CHECK(e.step == 10);
    CHECK(has(e.message, "no space left"));
    // The save of step 15 may have been in progress. That of step 10 must not be listed.
    const auto stands = newest_checkpoint(o.files).content.id.step;
    CHECK((stands == 5 || stands == 15));
    disk->heal();
    if (operation == file_operation::append)
      check_goes_on(o);
  }
}

TEST_CASE("a stop while a save is on its way waits for it and for the last one") {
  int64_t in_flight = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    small_job_options o{.max_steps = 400, .save_steps = 20};
    simulated_job job{prepare_small(o), seed};
    // In flight: the state is reached, and its commit is not yet published. In some schedules this cannot be seen from
    // outside.
    job.crank_until([&] { return job.progress().step >= 20; });
    in_flight += job.progress().committed_step < job.progress().step / 20 * 20;
    job.ask(request::stop);
    auto result = job.wait(std::chrono::hours{1});
    CAPTURE(seed);
    REQUIRE(result);
    REQUIRE(result->has_value());
    CHECK((*result)->stopped);
    CHECK(job.left().empty());
    CHECK(newest_checkpoint(o.files).content.id.step == (*result)->global_step);
    CHECK(steps_of(job.events(), kind::saved).size() >= 2);
    CHECK(job.events().back().what == kind::stopped);
  }
  CHECK(in_flight >= 5);
}

TEST_CASE("a stop before the first step ends cleanly at step 0 with a checkpoint there") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    small_job_options o{.max_steps = 400};
    simulated_job job{prepare_small(o), seed};
    job.ask(request::stop);
    auto result = job.wait(std::chrono::hours{1});
    REQUIRE(result);
    REQUIRE(result->has_value());
    CHECK((*result)->global_step == 0);
    CHECK((*result)->stopped);
    CHECK(newest_checkpoint(o.files).content.id.step == 0);
    CHECK(job.left().empty());
  }
}

TEST_CASE("an abort ends the job at once; the last commit stands") {
  small_job_options o{.max_steps = 400};
  simulated_job job{prepare_small(o), 3};
  REQUIRE(train_past(job, 7));
  job.ask(request::abort);
  const auto e = fail_of(job, o.files);
  CHECK(e.category == errc::cancelled);
}

TEST_CASE("an error of step s is published after the reports before it, with the infeed's words") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto good = small_dataset().shuffle().batch(4).repeat();
    small_job_options o{
        .max_steps = 40, .save_steps = 3, .input = dataset{std::make_shared<troubled_stage>(good.last_stage(), 11, [] {
                                            return expected<void>{fail(errc::data_loss, "record 44 is damaged")};
                                          })}};
    simulated_job job{prepare_small(o), seed};
    const auto e = fail_of(job, o.files);
    CAPTURE(seed);
    CHECK(e.category == errc::data_loss);
    CHECK(e.message == "record 44 is damaged");
    CHECK(e.source == "infeed/0");
    CHECK(e.step == 11);
    CHECK(job.progress().step == 11);  // The reports of all earlier steps had arrived.
  }
}

TEST_CASE("a loss that is not finite fails the job at its exact step, and no such state is saved") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    for (int64_t replicas : {1, 2}) {
      // Row 13 of the data holds a NaN. Nothing is shuffled, so the row is in batch 3 of 4 rows.
      std::vector<float> x(48 * 8, 0.25f);
      x[13 * 8 + 2] = std::numeric_limits<float>::quiet_NaN();
      auto data = dataset::from_tensors({{"x", tensor::of<float>({48, 8}, x)}},
                                        {{"y", tensor::zeros(dtype::int32, {48})}});
      REQUIRE(data);
      small_job_options o{.max_steps = 40, .save_steps = 1, .replicas = replicas, .input = data->batch(4).repeat()};
      simulated_job job{prepare_small(o), seed};
      const auto e = fail_of(job, o.files);
      CAPTURE(seed);
      CHECK(e.category == errc::nan_loss);
      CHECK(e.step == 3);
      CHECK(e.source.starts_with("replica/"));
      CHECK_MESSAGE(e.notes == std::vector<std::string>{debug_numerics_hint}, to_text(e));
      CHECK(newest_checkpoint(o.files).content.id.step <= 3);
      for (const auto& v : newest_checkpoint(o.files).content.tensors)
        if (v.value.type() == dtype::float32)
          CHECK(std::ranges::all_of(v.value.as<float>(), [](float f) { return std::isfinite(f); }));
    }
  }
}

TEST_CASE("with debug_numerics the job's error names the row and component, or the operation and its line") {
  for (uint64_t seed = 1; seed <= 10; ++seed)
    for (int64_t replicas : {1, 2})
      for (bool fed : {true, false}) {
        // Row 13 of the data is in batch 3 of 4 rows. With two replicas it is the second row of the first replica.
        std::vector<float> x(48 * 8, 0.25f);
        x[13 * 8 + 2] = fed ? std::numeric_limits<float>::quiet_NaN() : -1.0f;
        auto data = dataset::from_tensors({{"x", tensor::of<float>({48, 8}, x)}},
                                          {{"y", tensor::zeros(dtype::int32, {48})}});
        REQUIRE(data);
        small_job_options o{.max_steps = 40, .save_steps = 1, .replicas = replicas, .input = data->batch(4).repeat()};
        o.source = model{"logarithm", [](graph& g, const features& f, const labels& y, mode m) {
                           const auto logits = nn::dense(log(f["x"]), {.units = 3});
                           return multi_class_head{.classes = 3}.spec(
                               g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = gradient_descent{}});
                         }};
        auto description = describe_small(o);
        description.basis.config.debug_numerics = true;
        simulated_job job{*prepare(std::move(description)), seed};
        const auto e = fail_of(job, o.files);
        CAPTURE(seed);
        CAPTURE(to_text(e));
        CHECK(e.category == errc::nan_loss);
        CHECK(e.step == 3);
        CHECK(e.source == "replica/0");
        if (fed) {
          CHECK(e.message == "the loss is not finite; row 1 of the batch has nan at [2] in component x");
        } else {
          CHECK(e.message == "the loss is not finite; the first operation with such a result is log: nan at [1, 2]");
          REQUIRE_FALSE(e.notes.empty());
          CHECK(has(e.notes[0], "log at failure_paths_test.cpp:"));
        }
      }
}

TEST_CASE(
    "with debug_numerics an update that overflowed is named with its variable and step, and with two replicas, too") {
  for (int64_t replicas : {1, 2}) {
    // No saves, since a save would find the bad variable first.
    small_job_options o{.max_steps = 40, .save_steps = std::nullopt, .replicas = replicas};
    o.source = model{"overflow", [](graph& g, const features& f, const labels&, mode m) {
                       const symbol w = g.variable({.name = "w", .dims = {8}, .initial = init::constant(1)});
                       model_spec spec;
                       spec.mode = m;
                       spec.loss = reduce_mean(square(mul(f["x"], w)));
                       spec.optimizer = gradient_descent{.rate = 3e38f};
                       return spec;
                     }};
    std::vector<float> x(48 * 8, 8.0f);
    o.input = dataset::from_tensors({{"x", tensor::of<float>({48, 8}, x)}}, {{"y", tensor::zeros(dtype::int32, {48})}})
                  ->batch(4)
                  .repeat();
    auto description = describe_small(o);
    description.basis.config.debug_numerics = true;
    simulated_job job{*prepare(std::move(description)), 1};
    const auto e = fail_of(job, nullptr);
    CAPTURE(to_text(e));
    CHECK(e.category == errc::nan_loss);
    CHECK(e.step == 1);
    CHECK(e.message == "the loss is not finite; variable w has -inf at [0], which became so in the update of step 0");
    if (replicas == 2) {
      REQUIRE_FALSE(e.notes.empty());
      CHECK(e.notes.back() == "so it was on replica/1: " + e.message);
    }
  }
}

TEST_CASE("a label out of range fails the job and names it") {
  auto data = dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {8, 8})}},
                                    {{"y", tensor::of<int32_t>({8}, {0, 1, 2, 0, 1, 9, 0, 0})}});
  REQUIRE(data);
  small_job_options o{.max_steps = 40, .input = data->batch(4).repeat()};
  simulated_job job{prepare_small(o), 1};
  const auto e = fail_of(job, o.files);
  CHECK(e.category == errc::invalid_argument);
  CHECK(e.step == 1);
  CHECK(has(e.message, "9"));
}

TEST_CASE(
    "a job whose directory was removed ends with an error that says so, and adds no file to the one that another job "
    "has there now") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    auto disk = memory_disk::make();
    small_job_options o{.max_steps = 40, .evaluates = true, .files = disk};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(train_past(job, 7));
    const auto content = newest_checkpoint(disk).content;
    disk->remove_directory("/run");
    auto other = checkpoint_store::open(disk, "/run");
    REQUIRE(other);
    REQUIRE((*other)->commit(content));
    const auto names = [&] {
      const auto files = disk->list("/run");
      REQUIRE(files);
      std::set<std::string> all;
      for (const auto& f : *files)
        all.insert(f.name);
      return all;
    };
    const auto before = names();
    const auto e = fail_of(job, disk);
    CHECK(e.category == errc::failed_precondition);
    CHECK(has(e.message, "/run is not the directory that was locked"));
    CHECK(names() == before);
    CHECK((*other)->listed() == ids({content.id.step}));
  }
}

TEST_CASE("[EST-57] a checkpoint of another model is refused with every variable that differs, and stays") {
  small_job_options o{.max_steps = 5};
  {
    simulated_job job{prepare_small(o), 1};
    REQUIRE(job.wait(std::chrono::hours{1})->has_value());
  }
  const auto before = newest_checkpoint(o.files).content;
  o.source = model{"other", [](graph& g, const features& x, const labels& y, mode m) {
                     const auto h = nn::dense(x["x"], {.units = 6, .activation = relu});
                     return multi_class_head{.classes = 3}.spec(
                         g, {.mode = m, .logits = nn::dense(h, {.units = 3}), .labels = y.only(), .optimizer = adam{}});
                   }};
  simulated_job job{prepare_small(o), 1};
  const auto e = fail_of(job, o.files);
  CHECK(e.category == errc::failed_precondition);
  CHECK(has(e.message, "dense/kernel"));
  CHECK(has(e.message, "[8, 5]"));
  CHECK(has(e.message, "[8, 6]"));
  CHECK(has(e.message, "dense_1/kernel"));
  CHECK(same_state(newest_checkpoint(o.files).content, before));
}

TEST_CASE("a damaged newest checkpoint is passed over with a warning, and training goes on from the one before") {
  auto disk = memory_disk::make();
  small_job_options o{.max_steps = 10, .files = disk};
  {
    simulated_job job{prepare_small(o), 1};
    REQUIRE(job.wait(std::chrono::hours{1})->has_value());
  }
  const std::string file = "/run/model.ckpt-10-00000-of-00001.safetensors";
  auto bytes = *read_file(*disk, file);
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
  disk->overwrite(file, bytes);
  simulated_job job{prepare_small(o), 1};
  auto result = job.wait(std::chrono::hours{1});
  REQUIRE(result->has_value());
  CHECK((*result)->steps_run == 5);
  CHECK(steps_of(job.events(), kind::warning).size() >= 1);
  CHECK(newest_checkpoint(o.files).content.id.step == 10);
}

}  // namespace troupe::test
