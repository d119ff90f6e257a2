// An evaluation without training, on real threads: its event files, and slow disks that do not block its end.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/delegating_file_system.hpp"
#include "support/event_files.hpp"
#include "support/small_job.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <future>

namespace troupe::test {

namespace {

/// A file system whose `open` blocks until it is released.
class silent_disk final : public delegating_file_system {
 public:
  silent_disk(std::shared_ptr<file_system> inner, std::shared_future<void> released)
    : delegating_file_system(std::move(inner)), released_(std::move(released)) {}
  expected<std::unique_ptr<readable_file>> open(const std::string& path) override {
    return released_.wait(), delegating_file_system::open(path);
  }

 private:
  std::shared_future<void> released_;
};

/// A disk with a checkpoint of step 10.
std::shared_ptr<file_system> trained_files() {
  small_job_options o{.max_steps = 10};
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.wait(std::chrono::hours{1})->has_value());
  return o.files;
}

evaluation_job evaluation_on(std::shared_ptr<file_system> files, const std::string& name = "") {
  evaluation_job job{.basis = small_basis({.files = std::move(files)}), .data = small_evaluation()};
  if (!name.empty())
    job.data.name = name;
  return job;
}

expected<evaluation_result> run(evaluation_job job, std::optional<int64_t> step = {}) {
  job.checkpoint.which.step = step.value_or(-1);
  auto prepared = prepare(std::move(job));
  REQUIRE(prepared);
  return local_launcher{}.evaluate(*prepared)->wait();
}

/// The events in a directory that hold summary values.
std::vector<log_event> values_in(file_system& files, const std::string& directory) {
  auto all = events_in(files, directory);
  std::erase_if(all, [](const log_event& e) { return e.values.empty(); });
  return all;
}

}  // namespace

TEST_CASE(
    "[EST-34] an evaluation alone leaves its metrics and the checkpoint's path, too, in a file of its own each time") {
  for (const std::string name : {"", "test"}) {
    const auto files = trained_files();
    const std::string directory = name.empty() ? "/run/eval" : "/run/eval_test";
    const auto newest = run(evaluation_on(files, name));
    REQUIRE(newest);
    CHECK(newest->warnings.empty());
    const auto events = values_in(*files, directory);
    REQUIRE(events.size() == 2);
    CHECK(events[0].step == 10);
    CHECK(events[0].values.size() == 3);
    for (const auto& v : events[0].values) {
      CAPTURE(v.tag);
      CHECK(v.scalar == doctest::Approx(newest->metrics.at(v.tag)));
      CHECK(v.tag != "global_step");
    }
    CHECK(events[0].wall_time > 1.7e9);
    CHECK(events[1].step == 10);
    CHECK(events[1].values.at(0).tag == "checkpoint_path");
    CHECK(events[1].values.at(0).text == "/run/model.ckpt-10");

    REQUIRE(run(evaluation_on(files, name), 5));
    CHECK(list_event_logs(*files, directory)->size() == 2);
    CHECK(values_in(*files, directory)[2].step == 5);
  }
}

TEST_CASE("an evaluation alone whose event file cannot be written has its result, and a warning that names the file") {
  const auto disk = faulty_file_system::around(trained_files());
  for (const auto operation : {file_operation::create, file_operation::append, file_operation::create_directories}) {
    disk->inject({.operation = operation,
                  .category = errc::failed_precondition,
                  .reason = "read-only file system",
                  .path_contains = "eval"});
    const auto result = run(evaluation_on(disk));
    disk->heal();
    REQUIRE(result);
    CHECK(result->global_step == 10);
    REQUIRE(result->warnings.size() == 1);
    CAPTURE(result->warnings[0]);
    CHECK(has(result->warnings[0], "/run/eval"));
    CHECK(has(result->warnings[0], "read-only file system"));
  }
}

TEST_CASE("an evaluation alone of fresh variables makes no directory") {
  const auto files = memory_disk::make();
  const auto result = run(evaluation_on(files));
  REQUIRE(result);
  CHECK(result->checkpoint.empty());
  CHECK_FALSE(files->info("/run"));
}

TEST_CASE("a disk that does not answer holds up an evaluation alone no longer than its deadlines") {
  std::promise<void> release;
  auto d = evaluation_on(std::make_shared<silent_disk>(trained_files(), release.get_future().share()));
  d.basis.deadlines.evaluation = d.basis.deadlines.stop = std::chrono::milliseconds{50};
  const auto result = run(std::move(d));
  release.set_value();
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::deadline_exceeded);
  CHECK(has(result.error().message, "waiting for the evaluator"));
}

TEST_CASE("an input that does not look at its stop holds up an evaluation alone no longer than its deadlines") {
  std::promise<void> release;
  auto d = evaluation_on(trained_files());
  d.basis.deadlines.silence = d.basis.deadlines.stop = std::chrono::milliseconds{50};
  const auto until = release.get_future().share();
  d.data.input = dataset{std::make_shared<troubled_stage>(d.data.input.last_stage(), 1, [until] {
    until.wait();
    return expected<void>{};
  })};
  const auto result = run(std::move(d));
  release.set_value();
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::deadline_exceeded);
  CHECK(result.error().source == "evaluator");
}

}  // namespace troupe::test
