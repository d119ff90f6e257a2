// Jobs that are resumed: the checkpoints that they list, and the element that they read first.
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/examination/examination.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/prediction_case.hpp"

#include <doctest/doctest.h>

#include <set>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using batches = std::vector<int64_t>;

std::vector<checkpoint_id> listed(const std::shared_ptr<file_system>& files) {
  auto store = checkpoint_store::open(files, "/run", {.read_only = true});
  REQUIRE(store);
  return (*store)->listed();
}

/// A job over data whose reads are recorded.
small_job_options over(const std::shared_ptr<fake_source>& source, int64_t max_steps) {
  return {.max_steps = max_steps, .input = dataset_over(source), .source = echo_model()};
}

/// Holds training at one state, and may stop the job there.
struct gate_at : hook {
  int64_t step;
  bool stops, reached = false;
  explicit gate_at(int64_t at, bool stops = false) : step(at), stops(stops) {}
  needs begin(int64_t) override { return {.steps = {{.first = step, .gate = true}}}; }
  void on_step(const step_facts&, job_control& job) override {
    reached = true;
    if (stops)
      job.stop();
  }
};

/// The numbers of the batches in [first, last).
batches from_to(int64_t first, int64_t last) {
  batches all;
  for (int64_t s = first; s < last; ++s)
    all.push_back(s);
  return all;
}

/// Every file below a directory, with its size and the time of its last write.
std::map<std::string, std::pair<int64_t, double>> files_in(file_system& files, const std::string& directory) {
  std::map<std::string, std::pair<int64_t, double>> all;
  const auto entries = files.list(directory);
  REQUIRE(entries);
  for (const auto& f : *entries) {
    const auto path = directory + "/" + f.name;
    if (f.directory)
      all.merge(files_in(files, path));
    else
      all[path] = {f.size, f.modified};
  }
  return all;
}

}  // namespace

TEST_CASE("[EST-18] ten steps asked for twice are twenty in all") {
  small_job_options o;
  for (const int64_t wanted : {10, 20}) {
    auto d = describe_small(o);
    d.max_steps.reset();
    d.steps = 10;
    auto prepared = prepare(std::move(d));
    REQUIRE(prepared);
    simulated_job job{*prepared, 1};
    const auto result = run_to_end(job);
    CHECK(result.global_step == wanted);
    CHECK(result.steps_run == 10);
    CHECK(newest_checkpoint(o.files).content.id.step == wanted);
  }
}

TEST_CASE(
    "[EST-21] a job saves at its start, on exact multiples and at its end; a resumed one lists the one it came from "
    "again, and its end") {
  small_job_options o{.max_steps = 12};
  {
    simulated_job job{prepare_small(o), 1};
    CHECK(run_to_end(job).steps_run == 12);
    CHECK(steps_of(job.events(), kind::saved) == steps{0, 5, 10, 12});
    CHECK(listed(o.files) == ids({0, 5, 10, 12}));
  }
  // The list begins with the newest checkpoint. When the job lists it again, it moves to the end, as if it were just
  // saved.
  REQUIRE(write_file_atomically(
      *o.files, "/run", "checkpoint",
      "model_checkpoint_path: \"model.ckpt-12\"\nall_model_checkpoint_paths: \"model.ckpt-12\"\n"
      "all_model_checkpoint_paths: \"model.ckpt-0\"\nall_model_checkpoint_paths: \"model.ckpt-5\"\n"
      "all_model_checkpoint_paths: \"model.ckpt-10\"\n"));
  REQUIRE(listed(o.files) == ids({12, 0, 5, 10}));
  const auto written = [&] { return o.files->info("/run/model.ckpt-12-00000-of-00001.safetensors")->modified; };
  const double before = written();
  o.max_steps = 14;
  simulated_job job{prepare_small(o), 2};
  const auto result = run_to_end(job);
  CHECK(result.global_step == 14);
  CHECK(result.steps_run == 2);
  CHECK(listed(o.files) == ids({0, 5, 10, 12, 14}));
  CHECK_MESSAGE(written() == before, "it is verified, and not written again");
}

TEST_CASE(
    "a job that goes on in other data of the same shape names them and trains on, and the next one in those data says "
    "nothing") {
  const auto other = dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {48, 8})}},
                                           {{"y", tensor::zeros(dtype::int32, {48})}});
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    // A job with hooks begins to train later, so the input may report before.
    small_job_options o{.max_steps = 1000, .hooks = {seed % 2, std::make_shared<hook>()}};
    const auto told_until = [&](int64_t step) {
      simulated_job job{prepare_small(o), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= step; }));
      job.ask(request::stop);
      CHECK(run_to_end(job).stopped);
      std::vector<std::string> told;
      for (const auto& e : job.events())
        if (e.what == kind::warning)
          told.push_back(e.text);
      return told;
    };
    CHECK(told_until(10).empty());
    o.input = other->shuffle().batch(4).repeat();
    const auto told = told_until(20);
    REQUIRE(told.size() == 2);
    CHECK_MESSAGE(told[0].starts_with("'x' of tensors holds other data than when the position was saved"), told[0]);
    CHECK_MESSAGE(told[1].starts_with("'y' of tensors holds other data than when the position was saved"), told[1]);
    CHECK(told_until(30).empty());
  }
}

TEST_CASE(
    "[EST-76] a job that stands at max_steps already trains nothing, evaluates nothing, says why, has the results that "
    "are there, and writes nothing") {
  small_job_options o{.max_steps = 10, .evaluates = true};
  std::map<std::string, double> metrics;
  {
    simulated_job job{prepare_small(o), 1};
    metrics = run_to_end(job).metrics;
    for (auto& [name, value] : metrics)
      value = static_cast<double>(static_cast<float>(value));  // Event files store float32.
  }
  const auto before = files_in(*o.files, "/run");
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    simulated_job job{prepare_small(o), seed};
    const auto result = run_to_end(job);
    CHECK(result.global_step == 10);
    CHECK(result.steps_run == 0);
    CHECK(result.remark == "nothing to train: /run/model.ckpt-10 stands at step 10 already, and the job ends at 10");
    CHECK(result.metrics == metrics);
    CHECK(steps_of(job.events(), kind::evaluated).empty());
    CHECK(steps_of(job.events(), kind::saved).empty());
    CHECK(files_in(*o.files, "/run") == before);
  }
}

TEST_CASE(
    "[EST-76] a finished job whose last evaluation was cut off makes it when it is run again, and writes it; the next "
    "run makes none") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 10, .evaluates = true};
    {
      simulated_job job{prepare_small(o), seed};
      REQUIRE(job.crank_until([&] { return job.progress().committed_step == 10; }));
      CHECK(steps_of(job.events(), kind::evaluated) == steps{5});
    }
    for (const steps& made : {steps{10}, steps{}}) {
      simulated_job job{prepare_small(o), seed};
      CHECK(run_to_end(job).metrics.at("global_step") == 10);
      CHECK(steps_of(job.events(), kind::evaluated) == made);
      const auto written = read_evaluations(*o.files, "/run/eval");
      REQUIRE(written);
      REQUIRE(written->size() == 2);
      CHECK(written->back().step == 10);
    }
  }
}

TEST_CASE("[SUP-54, SUP-57] every commit has the position of each host's input, and there is no other file for it") {
  small_job_options o{.max_steps = 12, .replicas = 2, .hosts = 2};
  run_to_end(o);
  auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
  REQUIRE(store);
  CHECK((*store)->listed() == ids({0, 5, 10, 12}));
  std::set<std::string> positions;
  for (const auto id : (*store)->listed()) {
    const auto info = (*store)->inspect(id);
    REQUIRE(info);
    for (const char* host : {"infeed/0", "infeed/1"}) {
      REQUIRE(info->blobs.contains(host));
      positions.insert(info->blobs.at(host));
    }
  }
  CHECK_MESSAGE(positions.size() >= 4, "each step has another one");
  const auto files = o.files->list("/run");
  REQUIRE(files);
  for (const auto& f : *files) {
    CAPTURE(f.name);
    CHECK((f.name == "checkpoint" || f.name.starts_with("model.ckpt-") || f.name.starts_with("events.out.")
           || f.name.starts_with(".")));
  }
}

TEST_CASE("[SUP-55] a job that was stopped at step 12 and goes on reads its thirteenth element first") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto source = fake_batches(INT64_MAX);
    auto o = over(source, 400);
    o.hooks = {std::make_shared<gate_at>(12, true)};
    CAPTURE(seed);
    CHECK(run_to_end(o, seed).global_step == 12);
    CHECK(source->reads == from_to(0, 12));
    source->reads.clear();
    o.hooks.clear();
    o.max_steps = 15;
    CHECK(run_to_end(o, seed + 100).steps_run == 3);
    CHECK(source->reads == from_to(12, 15));  // Counted from 0.
  }
}

TEST_CASE(
    "[SUP-62] at whichever call of the commit of step 10 the power fails, model and input are both of step 10 or both "
    "of step 5") {
  std::map<int64_t, int64_t> resumed;
  for (int64_t calls = 0; calls < 300 && !resumed.contains(15); ++calls) {
    CAPTURE(calls);
    const auto source = fake_batches(INT64_MAX);
    const auto disk = memory_disk::make();
    const auto faulty = faulty_file_system::around(disk);
    auto o = over(source, 400);
    o.files = faulty;
    {
      simulated_job job{prepare_small(o), 1};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 8 && job.progress().committed_step == 5; }));
      faulty->fail_after(calls, true);
      failure_of(job);
    }
    disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = static_cast<uint64_t>(calls)});
    const auto step = newest_checkpoint(disk).content.id.step;
    ++resumed[step];
    source->reads.clear();
    o.files = disk;
    o.max_steps = step + 3;
    CHECK(run_to_end(o).steps_run == 3);
    CHECK(source->reads == from_to(step, step + 3));
  }
  CHECK(resumed.size() == 3);
  CHECK(resumed[5] >= 5);
  CHECK(resumed[10] >= 5);
}

TEST_CASE("[SUP-58] a job that is killed at step 8 and was saved at step 5 goes on with the sixth element") {
  int64_t killed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto source = fake_batches(INT64_MAX);
    const auto disk = memory_disk::make();
    auto o = over(source, 12);
    o.files = disk;
    const auto stands = std::make_shared<gate_at>(8);
    o.hooks = {stands};
    {
      simulated_job job{prepare_small(o), seed};
      REQUIRE(job.crank_until([&] { return stands->reached; }));
      CHECK(source->reads == from_to(0, 8));
      disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = seed});
    }
    CAPTURE(seed);
    if (newest_checkpoint(disk).content.id.step != 5)
      continue;  // In this schedule the save of step 5 was in progress.
    ++killed;
    source->reads.clear();
    CHECK(run_to_end(o, seed + 100).steps_run == 7);
    CHECK(source->reads == from_to(5, 12));
  }
  CHECK(killed >= 5);
}

TEST_CASE(
    "[SUP-61] an evaluation between two runs reads its data from their start, and leaves training's where they stand") {
  const auto source = fake_batches(INT64_MAX), other = fake_batches(3);
  auto o = over(source, 400);
  int64_t stands = 0;
  for (int run = 0; run < 3; ++run) {
    source->reads.clear();
    simulated_job job{prepare_small(o), static_cast<uint64_t>(run + 1)};
    REQUIRE(job.crank_until([&] { return job.progress().step >= stands + 5; }));
    job.ask(request::stop);
    const int64_t reached = run_to_end(job).global_step;
    CHECK(source->reads == from_to(stands, reached));
    stands = reached;

    other->reads.clear();
    auto prepared = prepare(evaluation_job{.basis = small_basis(o), .data = {.input = dataset_over(other)}});
    REQUIRE(prepared);
    const auto result = local_launcher{}.evaluate(*prepared)->wait();
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    CHECK(result->global_step == stands);
    CHECK(other->reads == batches{0, 1, 2});
  }
}

}  // namespace troupe::test
