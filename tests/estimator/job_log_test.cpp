#include "estimator/job_log.hpp"

#include "tests/estimator/small_start.hpp"
#include "tests/support/has.hpp"

#include <troupe/spdlog.hpp>

#include <doctest/doctest.h>
#include <spdlog/sinks/base_sink.h>

namespace troupe::test {

namespace {

/// Records the logged lines, such as "info: saved ...".
class kept_lines final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> lines() {
    std::lock_guard lock{mutex_};
    return lines_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& m) override {
    const auto level = spdlog::level::to_string_view(m.level);
    lines_.push_back(std::string{level.data(), level.size()} + ": " + std::string{m.payload.data(), m.payload.size()});
  }
  void flush_() override {}

  std::vector<std::string> lines_;
};

struct logged {
  std::shared_ptr<kept_lines> sink = std::make_shared<kept_lines>();
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("job", sink);
  logged() { logger->set_level(spdlog::level::debug); }
};

struct no_control final : job_control {
  void save() override {}
  void stop() override {}
};

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("progress is logged as info once a second of the job's clock, and otherwise as debug") {
  logged l;
  const auto log = make_job_log(log_to(l.logger));
  no_control job;
  for (const double seconds : {0.1, 0.6, 1.1, 1.2, 2.2})
    log->on_event(
        {.what = job_event::kind::progress, .step = static_cast<int64_t>(seconds * 10), .seconds = seconds, .loss = 1},
        job);
  CHECK(l.sink->lines()
        == lines{"info: step 1  loss 1", "debug: step 6  loss 1", "info: step 11  loss 1", "debug: step 12  loss 1",
                 "info: step 22  loss 1"});
}

TEST_CASE("warnings are warnings and failures are errors in the log") {
  logged l;
  const auto log = make_job_log(log_to(l.logger));
  no_control job;
  log->on_event({.what = job_event::kind::warning, .text = "100% {} late"}, job);
  log->on_event({.what = job_event::kind::failed, .failure = error{errc::nan_loss, "no"}}, job);
  CHECK(l.sink->lines() == lines{"warning: 100% {} late", "error: nan_loss: no"});
}

TEST_CASE("no logger is no log") { CHECK_FALSE(log_to(nullptr)); }

TEST_CASE("a job tells the caller's logger what happens, in order, and no other") {
  temporary_directory directory;
  logged l;
  auto running = start(small_estimator(directory / "run"), small_training(10), {}, {.log = log_to(l.logger)});
  REQUIRE(running.has_value());
  REQUIRE(running->wait(soon).has_value());
  auto told = l.sink->lines();
  REQUIRE(told.size() == 6);
  CHECK(told.front() == "info: started at step 0, to step 10: a fresh start");
  // A save is logged once it is durable, possibly after the progress of later steps.
  for (const std::string& line :
       {"info: saved " + (directory / "run/model.ckpt-0"), "info: saved " + (directory / "run/model.ckpt-10")})
    CHECK_MESSAGE(std::count(told.begin(), told.end(), line) == 1, line);
  CHECK(std::count_if(told.begin(), told.end(), [](const auto& line) { return has(line, ": step "); }) == 2);
  CHECK_MESSAGE(told.back().starts_with("info: finished at step 10 after "), told.back());
}

TEST_CASE("a job that fails is told as an error, and one that is stopped as stopped") {
  temporary_directory directory;
  logged l;
  {
    auto running = start(small_estimator(directory / "run"), small_training(endless), {}, {.log = log_to(l.logger)});
    REQUIRE(running.has_value());
    SUBCASE("aborted") {
      running->abort();
      CHECK_FALSE(running->wait(soon).has_value());
      CHECK(l.sink->lines().back()
            == "error: cancelled: the job was aborted (chief, step " + std::to_string(running->progress().step) + ")");
    }
    SUBCASE("stopped") {
      running->stop();
      const auto result = running->wait(soon);
      REQUIRE(result.has_value());
      CHECK(l.sink->lines().back().starts_with("info: stopped at step " + std::to_string(result->global_step)
                                               + " after "));
    }
  }
}

}  // namespace troupe::test
