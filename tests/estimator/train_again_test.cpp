// Calls whose goal was already reached by an earlier job in the same directory.
#include "tests/estimator/small_start.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace troupe::test {

namespace {

/// A hook that records every call.
struct witness : hook {
  std::vector<std::string> calls;
  needs begin(int64_t step) override {
    calls.push_back("begin " + std::to_string(step));
    return {};
  }
  void on_event(const job_event& e, job_control&) override { calls.push_back(std::string{to_string(e.what)}); }
  void end(int64_t step) override { calls.push_back("end " + std::to_string(step)); }
};

/// An estimator whose model function counts its calls.
estimator counted(const std::string& directory, const std::shared_ptr<int>& built) {
  auto e = small_estimator(directory);
  e.model.build = [built, inner = e.model.build](graph& g, const features& x, const labels& y, mode m) {
    ++*built;
    return inner(g, x, y, m);
  };
  return e;
}

}  // namespace

TEST_CASE(
    "[EST-18] max_steps of ten given twice is trained once: the second call builds nothing and says where it stands") {
  temporary_directory directory;
  const auto built = std::make_shared<int>(0);
  const auto e = counted(directory / "run", built);
  REQUIRE(train(e, small_training(10)));
  const int once = *built;
  CHECK(once == 1);
  const auto files = inspect_directory(directory / "run")->bytes;

  const auto watcher = std::make_shared<witness>();
  for (const int64_t goal : {10, 7}) {
    const auto again = train(e, small_training(goal, {watcher}));
    REQUIRE_MESSAGE(again, why(again));
    CHECK(*built == once);
    CHECK(again->global_step == 10);
    CHECK(again->steps_run == 0);
    CHECK_FALSE(again->stopped);
    CHECK(again->checkpoint == directory / "run/model.ckpt-10");
    CHECK(again->remark
          == "nothing to train: " + (directory / "run/model.ckpt-10")
                 + " stands at step 10 already, and the job ends at " + std::to_string(goal));
  }
  CHECK(watcher->calls.empty());
  CHECK(inspect_directory(directory / "run")->bytes == files);
  SUBCASE("a job that is started says the same, with events") {
    auto running = start(e, small_training(10, {watcher}));
    REQUIRE(running);
    const auto result = running->wait(soon);
    REQUIRE_MESSAGE(result, why(result));
    CHECK(result->remark == train(e, small_training(10))->remark);
    CHECK(watcher->calls == std::vector<std::string>{"begin 10", "started", "finished", "end 10"});
  }
  SUBCASE("a call for more steps trains them") {
    CHECK(train(e, small_training(12))->steps_run == 2);
    CHECK(*built > once);
  }
}

TEST_CASE("a goal that a damaged or missing checkpoint stands behind is trained for as if nobody knew of it") {
  temporary_directory directory;
  const auto e = small_estimator(directory / "run");
  REQUIRE(train(e, small_training(10)));
  std::filesystem::remove(directory / "run/model.ckpt-10.manifest.json");
  const auto again = train(e, small_training(10));
  REQUIRE_MESSAGE(again, why(again));
  CHECK(again->global_step == 10);
  CHECK(again->steps_run == 10);
}

TEST_CASE("the result of a training says that a damaged checkpoint was passed over, and what else it warned of") {
  temporary_directory directory;
  const auto e = small_estimator(directory / "run");
  REQUIRE(train(e, small_training(10)));
  const auto whole = train(e, small_training(20));
  REQUIRE_MESSAGE(whole, why(whole));
  CHECK(whole->warnings.empty());
  const auto shard = directory / "run/model.ckpt-20-00000-of-00001.safetensors";
  std::fstream{shard, std::ios::in | std::ios::out | std::ios::binary}.seekp(-8, std::ios::end).write("damaged!", 8);
  const auto again = train(e, small_training(30));
  REQUIRE_MESSAGE(again, why(again));
  CHECK(again->steps_run == 20);
  REQUIRE(again->warnings.size() == 1);
  CHECK(has(again->warnings[0], "model.ckpt-20 is passed over: " + shard));
}

TEST_CASE("a result has the first hundred warnings and the number of the others, and none that its remark has") {
  struct scaling final : hook {
    needs begin(int64_t) override { return {.holds = {.saved = true}}; }
    void on_event(const job_event& e, job_control& job) override {
      for (int i = 1; e.what == job_event::kind::saved && e.step == 5 && i <= 103; ++i)
        job.scale_rate(i % 2 == 0 ? 0.5 : 2);
    }
  };
  temporary_directory directory;
  auto e = small_estimator(directory / "run");
  e.config.save_checkpoints_steps = 5;
  const auto many = train(e, small_training(10, {std::make_shared<scaling>()}));
  REQUIRE_MESSAGE(many, why(many));
  REQUIRE(many->warnings.size() == 101);
  CHECK(has(many->warnings[99], "on learning rates are multiplied by 1"));
  CHECK(many->warnings[100] == "and 3 more warnings");
  const auto ended = train(small_estimator(directory / "short"),
                           {.input = small_dataset().batch(4), .max_steps = 1000});
  REQUIRE_MESSAGE(ended, why(ended));
  CHECK_FALSE(ended->remark.empty());
  CHECK(ended->warnings.empty());
}

TEST_CASE("print_result prints the warnings of a training to standard error") {
  const temporary_directory at;
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  const int file = open((at / "errors").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(file >= 0);
  dup2(file, STDERR_FILENO);
  const int status = print_result(train_result{.global_step = 3, .warnings = {"one", "two"}});
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  close(file);
  CHECK(status == 0);
  std::ostringstream errors;
  errors << std::ifstream{at / "errors"}.rdbuf();
  CHECK(errors.str() == "warning: one\nwarning: two\n");
}

TEST_CASE("options that cannot be are refused where there is nothing to train, too") {
  temporary_directory directory;
  auto e = small_estimator(directory / "run");
  REQUIRE(train(e, small_training(10)));
  auto both = small_training(10);
  both.steps = 3;
  CHECK(train(e, both).error().category == errc::invalid_argument);
  e.config.replicas = 0;
  CHECK(train(e, small_training(10)).error().category == errc::invalid_argument);
}

TEST_CASE(
    "[EST-56] a model directory is made with those above it; one that cannot be is an error that names it, and nothing "
    "is trained") {
  temporary_directory directory;
  CHECK(train(small_estimator(directory / "a/b/run"), small_training(1)));
  CHECK(newest_step(directory / "a/b/run") == 1);
  std::ofstream{directory / "file"} << "no directory";
  for (const std::string place : {"file", "file/run"}) {
    const auto result = train(small_estimator(directory / place), small_training(1));
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::failed_precondition);
    CHECK(has(result.error().message, directory / place));
  }
}

TEST_CASE("[EST-77] evaluations beside training are refused where no checkpoint is ever saved") {
  temporary_directory directory;
  for (const bool by_steps : {true, false})
    for (const bool by_secs : {true, false}) {
      auto e = small_estimator(directory / "run");
      e.config.save_checkpoints_steps = by_steps ? setting<int64_t>{std::nullopt} : setting<int64_t>{};
      e.config.save_checkpoints_secs = by_secs ? setting<double>{std::nullopt} : setting<double>{};
      const auto result = train_and_evaluate(e, small_training(2), {.input = small_dataset(20).batch(8)});
      if (!by_steps && !by_secs) {
        CHECK_MESSAGE(result, why(result));
        continue;
      }
      REQUIRE_FALSE(result);
      CHECK(result.error().category == errc::invalid_argument);
      CHECK(result.error().message == "an evaluation beside training needs checkpoints: give a model_dir, and a "
                                      "save_checkpoints_steps or "
                                      "save_checkpoints_secs that is not none");
      CHECK_FALSE(inspect_directory(directory / "run").has_value());
    }
}

}  // namespace troupe::test
