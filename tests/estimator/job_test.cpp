#include "tests/estimator/small_start.hpp"

#include <doctest/doctest.h>

#include <thread>

namespace troupe::test {

namespace {

bool same(const train_result& a, const train_result& b) {
  return a.global_step == b.global_step && a.steps_run == b.steps_run && a.metrics == b.metrics
         && a.seconds == b.seconds && a.stopped == b.stopped && a.checkpoint == b.checkpoint && a.remark == b.remark;
}

}  // namespace

TEST_CASE(
    "a job that has finished answers every call: the same result, its last progress, and nothing for save, stop and "
    "abort") {
  temporary_directory directory;
  auto running = start(small_estimator(directory / "run"), small_training(20));
  REQUIRE(running.has_value());
  const auto first = running->wait(soon);
  REQUIRE(first.has_value());
  CHECK(first->global_step == 20);
  const auto bytes = inspect_directory(directory / "run")->bytes;
  for (int i = 0; i < 3; ++i) {
    running->save();
    running->stop();
    running->stop(stop_reason::signal);
    running->abort();
    const auto again = running->wait(std::chrono::milliseconds{0});
    REQUIRE(again.has_value());
    CHECK(same(*again, *first));
    CHECK(running->wait().has_value());  // A wait without a deadline returns, too.
    CHECK(running->progress().now == job_progress::phase::finished);
    CHECK(running->progress().step == 20);
    CHECK(running->progress().committed_step == 20);
  }
  CHECK(inspect_directory(directory / "run")->bytes == bytes);
}

TEST_CASE("the longest deadline there is waits for the end, and one that has passed for nothing") {
  temporary_directory directory;
  auto running = start(small_estimator(directory / "run"), small_training(2'000));
  REQUIRE(running.has_value());
  const auto result = running->wait(std::chrono::milliseconds::max());
  CHECK_MESSAGE(result.has_value(), why(result));
  auto other = start(small_estimator(directory / "other"), small_training(endless));
  REQUIRE(other.has_value());
  CHECK(other->wait(std::chrono::milliseconds::min()).error().category == errc::deadline_exceeded);
}

TEST_CASE("a wait for a while tells a job that is still running from one that has ended, well or not") {
  temporary_directory directory;
  auto running = start(small_estimator(directory / "run"), small_training(endless));
  REQUIRE(running.has_value());
  const auto early = running->wait_for(std::chrono::milliseconds{1});
  REQUIRE_MESSAGE(early.has_value(), why(early));
  CHECK_FALSE(early->has_value());
  running->stop();
  const auto stopped = running->wait_for(soon);
  REQUIRE_MESSAGE(stopped.has_value(), why(stopped));
  REQUIRE(stopped->has_value());
  CHECK((*stopped)->stopped);

  auto failing = start(small_estimator(directory / "other"), small_training(endless));
  REQUIRE(failing.has_value());
  failing->abort();
  const auto failed = failing->wait_for(soon);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error() == failing->wait(soon).error());
  const job taken = std::move(*failing);
  CHECK(failing->wait_for(soon).error().category == errc::state);  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("a job that has failed gives the same error again, whatever is asked of it meanwhile") {
  temporary_directory directory;
  auto running = start(small_estimator(directory / "run"), small_training(endless));
  REQUIRE(running.has_value());
  running->abort();
  const auto first = running->wait(soon);
  REQUIRE_FALSE(first.has_value());
  CHECK(first.error().category == errc::cancelled);
  running->stop();
  running->save();
  CHECK(running->wait(std::chrono::milliseconds{0}).error() == first.error());
  CHECK(running->progress().now == job_progress::phase::failed);
}

TEST_CASE("a handle that was moved from holds no job and says so; the job goes on in the other") {
  temporary_directory directory;
  auto running = start(small_estimator(directory / "run"), small_training(endless));
  REQUIRE(running.has_value());
  job other = std::move(*running);
  running->save();
  running->stop();
  running->abort();
  CHECK(running->progress().now == job_progress::phase::starting);
  CHECK(running->progress().committed_step == -1);
  const auto nothing = running->wait(std::chrono::milliseconds{0});
  REQUIRE_FALSE(nothing.has_value());
  CHECK(nothing.error().category == errc::state);
  other.stop();
  const auto result = other.wait(soon);
  REQUIRE_MESSAGE(result.has_value(), why(result));
  CHECK(result->stopped);
}

TEST_CASE("assigning to a handle ends the job that it held, and its directory is free") {
  temporary_directory directory;
  auto a = start(small_estimator(directory / "a"), small_training(endless));
  auto b = start(small_estimator(directory / "b"), small_training(20));
  REQUIRE(a.has_value());
  REQUIRE(b.has_value());
  *a = std::move(*b);
  CHECK(a->wait(soon)->global_step == 20);
  const auto again = start(small_estimator(directory / "a"), small_training(endless));
  CHECK(again.has_value());
}

TEST_CASE("[EST-16] a hook that is null is refused by its index before anything starts") {
  using of_training = decltype(train_spec::hooks)::value_type;
  static_assert(std::is_constructible_v<of_training, std::shared_ptr<hook>>);
  static_assert(!std::is_constructible_v<of_training, std::shared_ptr<saving_listener>>);
  temporary_directory directory;
  const auto refused = start(small_estimator(directory / "run"),
                             small_training(20, {std::make_shared<hook>(), nullptr}));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == error{errc::invalid_argument, "hooks[1] of the training is null; leave it out"});
  CHECK_FALSE(inspect_directory(directory / "run").has_value());
}

TEST_CASE("[EST-16] a loss of the shape [1] trains and is evaluated as the scalar does") {
  std::map<std::string, double> metrics;
  for (const bool is_scalar : {true, false}) {
    temporary_directory directory;
    auto e = small_estimator(directory / "run");
    e.model.build = [is_scalar, inner = e.model.build](graph& g, const features& x, const labels& y, mode m) {
      auto spec = inner(g, x, y, m);
      if (!is_scalar)
        spec.loss = reshape(spec.loss, {1});
      return spec;
    };
    const auto trained = train(e, small_training(3));
    REQUIRE_MESSAGE(trained, why(trained));
    const auto evaluated = evaluate(e, {.input = small_dataset(20).batch(8)});
    REQUIRE_MESSAGE(evaluated, why(evaluated));
    if (is_scalar)
      metrics = evaluated->metrics;
    CHECK(evaluated->global_step == 3);
    CHECK(evaluated->metrics == metrics);
  }
}

TEST_CASE(
    "replicas and gradient shards beyond their bounds are refused before anything starts, and not taken for other "
    "numbers") {
  temporary_directory directory;
  const auto refused = [&](int64_t replicas, std::optional<int64_t> shards) {
    auto e = small_estimator(directory / "run");
    e.config.replicas = replicas;
    e.config.gradient_shards = shards;
    const auto job = start(e, small_training(20));
    return job ? std::string{} : job.error().message;
  };
  CHECK(refused(4294967298, {}) == "replicas must be in [1, 1024], not 4294967298");
  CHECK(refused(1, 4294967296) == "gradient_shards must be in [1, 1048576], not 4294967296");
  CHECK_FALSE(inspect_directory(directory / "run").has_value());
}

TEST_CASE("a deadline for the executor that cannot be is refused before anything starts") {
  temporary_directory directory;
  for (const auto deadline :
       {std::chrono::milliseconds{0}, std::chrono::milliseconds{-5}, std::chrono::milliseconds::max()}) {
    const auto refused = start(small_estimator(directory / "run"), small_training(20), {},
                               {.executor_deadline = deadline});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().category == errc::invalid_argument);
    CHECK(refused.error().message
          == "executor_deadline must be in [1, 86400000] ms, not " + std::to_string(deadline.count()));
  }
  CHECK_FALSE(inspect_directory(directory / "run").has_value());
}

TEST_CASE("[EST-45] a wait for step 0 ends at once, and one for step 100 when that is reached") {
  const temporary_directory here;
  auto running = start(small_estimator(here.path), small_training(endless));
  REQUIRE(running);
  CHECK(running->wait_until(0, std::chrono::milliseconds{0}));
  CHECK(running->wait_until(100, soon));
  CHECK(running->progress().step >= 100);
  const auto late = running->wait_until(endless - 1, std::chrono::milliseconds{1});
  REQUIRE_FALSE(late);
  CHECK(late.error().category == errc::deadline_exceeded);
  std::thread other{[&] {
    const auto never = running->wait_until(endless - 1);
    REQUIRE_FALSE(never);
    CHECK(never.error().category == errc::state);
    CHECK(never.error().message.find(", before step ") != std::string::npos);
  }};
  running->stop();
  CHECK(running->wait(soon));
  other.join();
  CHECK(running->wait_until(100));  // It was reached.
}

}  // namespace troupe::test
