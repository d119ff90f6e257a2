#include "pipeline/launch/prepared_job.hpp"
#include "support/small_job.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace troupe::test {

namespace {

/// Forwards every call, and counts the calls that open it.
class counted_stage final : public dataset_stage {
 public:
  counted_stage(std::shared_ptr<const dataset_stage> inner, int& opened) : inner_(std::move(inner)), opened_(opened) {}
  element_spec spec() const override { return inner_->spec(); }
  std::string to_text() const override { return inner_->to_text(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override { return inner_->elements(drop_remainder); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    ++opened_;
    return inner_->iterate(options);
  }

 private:
  std::shared_ptr<const dataset_stage> inner_;
  int& opened_;
};

}  // namespace

TEST_CASE("the function of a model is called once a mode and job, however many replicas share its graph") {
  std::map<mode, int> calls;
  small_job_options o{.max_steps = 6, .replicas = 4, .evaluates = true};
  const auto build = o.source.build;
  o.source.build = [&calls, build](graph& g, const features& x, const labels& y, mode m) {
    ++calls[m];
    return build(g, x, y, m);
  };
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.wait(std::chrono::hours{1}));
  CHECK(calls == std::map<mode, int>{{mode::train, 1}, {mode::evaluate, 1}});
}

TEST_CASE("a source is opened once by a job that trains to its end, and once for each of two hosts") {
  for (int32_t hosts : {1, 2}) {
    CAPTURE(hosts);
    int opened = 0;
    small_job_options o{.max_steps = 6, .replicas = 2, .hosts = hosts};
    o.input = dataset{std::make_shared<counted_stage>(o.input.last_stage(), opened)};
    simulated_job job{prepare_small(o), 1};
    const auto result = job.wait(std::chrono::hours{1});
    REQUIRE(result);
    REQUIRE(result->has_value());
    CHECK(opened == hosts);
  }
}

TEST_CASE(
    "automatic threads are the job's processors divided by its replicas, a given number is kept, and what has no "
    "processors has one") {
  const auto threads_now = [] { return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}); };
  const auto started = [&](int32_t processors, int64_t replicas, int64_t threads, int64_t rows) {
    auto job = describe_small({.replicas = replicas,
                               .threads = threads,
                               .evaluates = true,
                               .input = small_dataset(2048).batch(rows).repeat(),
                               .source = wide_model()});
    job.basis.processors = processors;
    const auto before = threads_now();
    const auto prepared = prepare(std::move(job));
    REQUIRE(prepared.has_value());
    return threads_now() - before;
  };
  CHECK(started(8, 1, 0, 2048) == 7);
  CHECK(started(8, 2, 0, 2048) == 2 * 3);
  CHECK(started(7, 4, 0, 2048) == 0);
  CHECK(started(2, 4, 0, 2048) == 0);
  CHECK(started(8, 1, 0, 1) == 0);  // The step is too short for threads.
  CHECK(started(1, 1, 0, 2048) == 0);
  CHECK(started(1, 1, 3, 2048) == 2 * 2);  // The evaluation's replica has threads, too.
  CHECK(started(8, 2, 1, 2048) == 0);
  CHECK(describe_small({}).basis.processors == 1);
}

// Sanitizers end a process that runs out of address space.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("automatic threads that the system does not give are done without, given ones are an error") {
  const auto prepares = [](int32_t processors, int64_t threads) {
    // The child process has address space for the stacks of a few threads only.
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      auto job = describe_small(
          {.threads = threads, .input = small_dataset(2048).batch(2048).repeat(), .source = wide_model()});
      job.basis.processors = processors;
      rlim_t pages = 0;
      std::ifstream{"/proc/self/statm"} >> pages;
      const rlim_t bytes = pages * 4096 + (rlim_t{400} << 20);
      const rlimit little{.rlim_cur = bytes, .rlim_max = bytes};
      setrlimit(RLIMIT_AS, &little);
      const auto prepared = prepare(std::move(job));
      _exit(prepared ? 0 : prepared.error().message.starts_with("intra_op_threads = 64: ") ? 1 : 2);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  CHECK(prepares(1, 64) == 1);
  CHECK(prepares(1024, 0) == 0);
}
#endif

TEST_CASE("a job is planned from the books of the newest checkpoint, or of none") {
  small_job_options o{.max_steps = 10};
  CHECK_FALSE(prepare_small(o)->books);
  {
    simulated_job job{prepare_small(o), 1};
    REQUIRE(job.wait(std::chrono::hours{1}));
  }
  o.max_steps = 20;
  const auto again = prepare_small(o);
  REQUIRE(again->books);
  CHECK(again->books->id == checkpoint_id{10});
  CHECK(again->books->properties.at("finished") == "true");
  CHECK_MESSAGE(!o.files->lock_owner("/run")->has_value(), "to look is not to claim");
  o.keeps = false;
  CHECK_FALSE(prepare_small(o)->books);
  CHECK_FALSE(
      books_of(evaluation_job{.basis = small_basis({.files = o.files}), .data = small_evaluation()})->has_value());
}

TEST_CASE(
    "a model directory that is a file is refused before anything is planned, and a damaged one is left to the "
    "checkpoint writer") {
  small_job_options o{.max_steps = 10};
  int calls = 0;
  o.source.build = [&calls, build = o.source.build](graph& g, const features& x, const labels& y, mode m) {
    ++calls;
    return build(g, x, y, m);
  };
  SUBCASE("a file") {
    REQUIRE(write_file_atomically(*o.files, "/", "run", "text"));
    const auto refused = prepare(describe_small(o));
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == error{errc::failed_precondition, "/run is a file, and a model directory is wanted there"});
    CHECK(calls == 0);
  }
  SUBCASE("damage") {
    {
      simulated_job job{prepare_small(o), 1};
      REQUIRE(job.wait(std::chrono::hours{1}));
    }
    for (const int64_t step : {0, 5, 10})
      REQUIRE(write_file_atomically(*o.files, "/run", "model.ckpt-" + std::to_string(step) + ".manifest.json", "{"));
    const auto prepared = prepare_small(o);
    CHECK_FALSE(prepared->books);
    simulated_job job{prepared, 2};
    const auto result = job.wait(std::chrono::hours{1});
    REQUIRE(result);
    REQUIRE_FALSE(result->has_value());
    CHECK(result->error().category == errc::data_loss);
  }
}

TEST_CASE(
    "a checkpoint that is deleted after the job was planned from it ends the job, and nothing begins anew in silence") {
  small_job_options o{.max_steps = 10};
  {
    simulated_job job{prepare_small(o), 1};
    REQUIRE(job.wait(std::chrono::hours{1}));
  }
  o.max_steps = 20;
  const auto planned = prepare_small(o);
  const auto there = o.files->list("/run").value();
  for (const auto& file : there)
    REQUIRE(o.files->remove("/run/" + file.name));
  simulated_job job{planned, 2};
  const auto result = job.wait(std::chrono::hours{1});
  REQUIRE(result);
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::failed_precondition);
  CHECK(result->error().message.starts_with(
      "the job was planned from the checkpoint of step 10, and no checkpoint is there any more"));
}

}  // namespace troupe::test
