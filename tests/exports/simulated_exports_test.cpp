// Exporters in simulated jobs: they use the disk and the clock of the simulation.
#include "estimator/describe.hpp"
#include "pipeline/launch/simulated_launcher.hpp"
#include "tests/exports/exported_case.hpp"

#include <algorithm>

namespace troupe {

using namespace test;

namespace {

/// A job that saves, evaluates and exports at every step, on a disk in memory.
training_job exporting_job(const std::shared_ptr<file_system>& disk, std::vector<exporter> exporters, int64_t steps) {
  auto e = small_estimator("/run");
  e.config.save_checkpoints_steps = 1;
  const eval_spec evaluation{
      .input = small_dataset().batch(4), .steps = 1, .throttle_secs = 0, .exporters = std::move(exporters)};
  auto job = describe(e, small_training(steps), evaluation);
  REQUIRE_MESSAGE(job, why(job));
  job->basis.files = disk;
  return std::move(*job);
}

train_result run_simulated(training_job job, uint64_t seed) {
  auto prepared = prepare(std::move(job));
  REQUIRE_MESSAGE(prepared, why(prepared));
  simulated_job run{*prepared, seed};
  auto result = run.wait(std::chrono::hours{1});
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), why(*result));
  CHECK(run.left().empty());
  return **result;
}

}  // namespace

TEST_CASE("the exporters of a simulated job write to its disk, named by its time, and nothing to the machine's") {
  const auto disk = memory_disk::make();
  const auto result = run_simulated(exporting_job(disk, {latest_exporter(), best_exporter(), final_exporter()}, 3), 1);
  const auto latest = exports_in(*disk, "/run/export/latest");
  REQUIRE_MESSAGE(latest, why(latest));
  CHECK(latest->size() == 3);
  CHECK(std::all_of(latest->begin(), latest->end(), [](int64_t n) { return n >= 1'700'000'000 && n < 1'700'001'000; }));
  for (const char* name : {"best_exporter", "final"}) {
    const auto numbers = exports_in(*disk, std::string{"/run/export/"} + name);
    REQUIRE_MESSAGE(numbers, why(numbers));
    REQUIRE_FALSE(numbers->empty());
    const auto content = read_export(*disk, std::string{"/run/export/"} + name + "/" + std::to_string(numbers->back()));
    CHECK_MESSAGE(content, why(content));
  }
  CHECK(disk->info("/run/export/best_exporter/best.json"));
  CHECK_FALSE(posix_file_system()->info("/run/export"));
  REQUIRE(result.exports.size() == 1);
  CHECK(result.exports.begin()->second.size() == 3);
}

TEST_CASE("one seed writes the same exports again, byte for byte") {
  const auto written = [](uint64_t seed) {
    const auto disk = memory_disk::make();
    run_simulated(exporting_job(disk, {latest_exporter()}, 2), seed);
    std::map<std::string, std::string> all;
    const auto numbers = exports_in(*disk, "/run/export/latest");
    REQUIRE_MESSAGE(numbers, why(numbers));
    for (const int64_t number : *numbers)
      for (const auto file : {graph_file_name, weights_file_name, signature_file_name})
        all[std::to_string(number) + "/" + std::string{file}] = *read_file(
            *disk, "/run/export/latest/" + std::to_string(number) + "/" + std::string{file});
    return all;
  };
  const auto once = written(5);
  CHECK(once.size() == 6);
  CHECK(once == written(5));
}

TEST_CASE("exports that fall into one second of a simulated job take the next ones") {
  const auto disk = memory_disk::make();
  run_simulated(exporting_job(disk, {{.name = "all", .exports_to_keep = std::nullopt}}, 8), 1);
  const auto numbers = exports_in(*disk, "/run/export/all");
  REQUIRE_MESSAGE(numbers, why(numbers));
  CHECK(numbers->size() == 8);
}

}  // namespace troupe
