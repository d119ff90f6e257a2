#include "small_start.hpp"
#include "storage/files/file_system.hpp"
#include "tests/support/has.hpp"

#include <troupe/job_status.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace troupe::test {

TEST_CASE("a kept status can be read while the job runs, and says at last how it has ended") {
  const temporary_directory here;
  auto running = start(small_estimator(here.path), small_training(endless));
  REQUIRE(running);
  {
    const status_keeper keeper{*running, here.path, std::chrono::milliseconds{1}};
    job_status seen;
    while (seen.progress.step < 20 || seen.report.actors.empty()) {
      auto now = read_status(here.path);
      if (!now) {  // The first one is being written.
        REQUIRE(now.error().category == errc::not_found);
        std::this_thread::yield();
        continue;
      }
      seen = std::move(*now);
      CHECK(seen.progress.step >= seen.report.step);  // The phase and the step are no older than the report.
    }
    CHECK(seen.progress.now == job_progress::phase::training);
    CHECK(seen.process == ::getpid());
    CHECK(seen.report.seconds >= 0);
    running->stop();
    REQUIRE(running->wait(soon));
  }
  const auto last = read_status(here.path);
  REQUIRE(last);
  CHECK(last->progress.now == job_progress::phase::finished);
  CHECK(last->progress.step == running->progress().step);
  CHECK(inspect_directory(here.path).has_value());
}

TEST_CASE("a job that is refused, or that follows another one, writes no status where that one writes its own") {
  const temporary_directory here;
  auto owner = start(small_estimator(here.path), small_training(endless));
  REQUIRE(owner);
  REQUIRE(owner->wait_until(1, soon));
  {
    auto refused = start(small_estimator(here.path), small_training(endless));
    REQUIRE(refused);
    const status_keeper keeper{*refused, here.path, std::chrono::milliseconds{1}};
    const auto why_not = refused->wait(soon);
    REQUIRE_FALSE(why_not);
    CHECK_MESSAGE(has(to_text(why_not.error()), "in use by"), to_text(why_not.error()));
  }
  CHECK(read_status(here.path).error().category == errc::not_found);
  {
    auto e = small_estimator(here.path);
    e.cluster = cluster{.jobs = {{"chief", {"a:1"}}}, .task = {"evaluator", 0}};
    auto follower = start(e, {}, eval_spec{.input = small_dataset().batch(4)});
    REQUIRE_MESSAGE(follower, (follower ? "" : to_text(follower.error())));
    {
      const status_keeper keeper{*follower, here.path, std::chrono::milliseconds{1}};
      CHECK(follower->report(soon));
    }
    follower->abort();
  }
  CHECK(read_status(here.path).error().category == errc::not_found);
  owner->stop();
  REQUIRE(owner->wait(soon));
}

TEST_CASE("a job that has ended leaves the status alone once another owns the directory") {
  const temporary_directory here;
  auto running = start(small_estimator(here.path), small_training(endless));
  REQUIRE(running);
  std::optional<status_keeper> keeper;
  keeper.emplace(*running, here.path, std::chrono::hours{1});
  while (!read_status(here.path))
    std::this_thread::yield();
  running->stop();
  REQUIRE(running->wait(soon));
  auto lock = posix_file_system()->lock(here.path);
  for (; !lock; lock = posix_file_system()->lock(here.path))  // The job may be about to give it back.
    std::this_thread::yield();
  REQUIRE(write_status(here.path, {.process = 7, .host = "of the next"}));
  keeper.reset();
  CHECK(read_status(here.path)->host == "of the next");
}

TEST_CASE("where no job has kept a status there is none, and a directory that cannot be written hinders no job") {
  const temporary_directory here;
  const auto none = read_status(here.path);
  REQUIRE_FALSE(none);
  CHECK(none.error().category == errc::not_found);
  std::ofstream{here.path + "/file"} << "in the way";
  std::vector<std::string> warned;
  auto running = start(small_estimator(here.path + "/run"), small_training(30));
  REQUIRE(running);
  {
    const status_keeper keeper{*running, here.path + "/file", std::chrono::milliseconds{1},
                               [&](const std::string& text) {
                                 warned.push_back(text);
                                 throw std::runtime_error{"what is thrown here is dropped"};
                               }};
    CHECK(running->wait(soon)->global_step == 30);
  }
  REQUIRE(warned.size() == 1);
  CHECK(warned[0].starts_with("the status of the job is not kept: "));
  CHECK(warned[0].find(here.path + "/file") != std::string::npos);
}

}  // namespace troupe::test
