// A process that starts and ends many jobs keeps no thread, no file descriptor and no memory of them.
#include "tests/estimator/small_start.hpp"
#include "tests/support/threads.hpp"
#include "tests/support/troubled_dataset.hpp"

#include <doctest/doctest.h>

#include <malloc.h>

namespace troupe::test {

namespace {

int64_t descriptors() {
  const std::filesystem::directory_iterator open{"/proc/self/fd"};
  return std::distance(std::filesystem::begin(open), std::filesystem::end(open));
}

/// The bytes that are allocated by malloc. Sanitizers have their own allocators, for which this is 0; the address
/// sanitizer finds leaks at exit.
int64_t memory_in_use() {
  const auto info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

struct told final : hook {
  int64_t calls = 0;
  void on_event(const job_event&, job_control&) override { ++calls; }
};

enum ending { finished, stopped_at_once, stopped_later, aborted, failed, destroyed, endings };

/// Runs one job with evaluations and a hook from its start to its end, which is of kind `how`.
void live(const std::string& directory, int how) {
  const auto hook = std::make_shared<told>();
  auto training = small_training(how == finished ? 20 : endless, {hook});
  if (how == failed)
    training.input = dataset{std::make_shared<troubled_stage>(
        training.input.last_stage(), 9, []() -> expected<void> { return fail(errc::data_loss, "record 9"); })};
  auto estimator = small_estimator(directory);
  estimator.config.save_summary_steps = 10;
  auto running = start(estimator, training, eval_spec{.input = small_dataset(20).batch(8), .throttle_secs = 0});
  REQUIRE_MESSAGE(running.has_value(), why(running));
  if (how == destroyed)
    return;
  if (how == stopped_later)
    REQUIRE(running->wait(std::chrono::milliseconds{5}).error().category == errc::deadline_exceeded);
  if (how == stopped_at_once || how == stopped_later)
    running->stop();
  if (how == aborted)
    running->abort();
  const auto result = running->wait(soon);
  if (how == failed || how == aborted)
    CHECK(result.error().category == (how == failed ? errc::data_loss : errc::cancelled));
  else
    CHECK_MESSAGE(result.has_value(), why(result));
  if (how != aborted)  // An abort may precede all hooks.
    CHECK(hook->calls > 0);
}

void live_many(int jobs) {
  temporary_directory directory;
  for (int i = 0; i < jobs; ++i)
    live(directory / std::to_string(i), i % endings);
}

}  // namespace

TEST_CASE(
    "100 jobs that finish, stop, are aborted, fail or are destroyed leave no thread, no descriptor and no memory "
    "behind") {
  // Allocates what is allocated only once, such as tables and the arenas of threads.
  live_many(20);
  const auto threads_before = threads(), descriptors_before = descriptors(), memory_before = memory_in_use();
  live_many(100);
  CHECK(threads_fall_to(threads_before));
  CHECK(descriptors() == descriptors_before);
  const auto growth = memory_in_use() - memory_before;
  MESSAGE("threads ", threads(), " of ", threads_before, ", descriptors ", descriptors(), " of ", descriptors_before,
          ", memory ", memory_before, " + ", growth, " bytes");
  // This is 655 bytes a job, less than one job's parameters and slots. A growth of about 20,000 bytes was seen, and no
  // more after 500 jobs.
  CHECK(growth < 64 * 1024);
}

TEST_CASE("12 jobs at once in one process each come to their own end") {
  const auto threads_before = threads();
  {
    temporary_directory directory;
    std::vector<job> running;
    for (int i = 0; i < 12; ++i) {
      auto one = start(small_estimator(directory / std::to_string(i)), small_training(10 + i));
      REQUIRE_MESSAGE(one.has_value(), why(one));
      running.push_back(std::move(*one));
    }
    for (int i = 0; i < 12; ++i) {
      const auto result = running[static_cast<size_t>(i)].wait(soon);
      REQUIRE_MESSAGE(result.has_value(), why(result));
      CHECK(result->global_step == 10 + i);
      CHECK(newest_step(directory / std::to_string(i)) == 10 + i);
    }
  }
  CHECK(threads_fall_to(threads_before));
}

}  // namespace troupe::test
