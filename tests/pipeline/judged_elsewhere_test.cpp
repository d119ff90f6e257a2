// What an evaluator in another process judges, and what the chief makes of it.
#include "storage/checkpoints/judged.hpp"
#include "support/delegating_file_system.hpp"
#include "support/followed_job.hpp"
#include "support/has.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

using namespace std::chrono_literals;

TEST_CASE("a rule that an evaluator applies ends the chief's job, and the same command again trains nothing") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const small_job_options o{.max_steps = 400};
    const auto rule = stop_if_higher("loss", -1, {.min_steps = 10});
    two_processes both{seed, slow_training(1s)};
    auto follower = describe_follower_small(o);
    follower.stop_early = {rule};
    auto training = describe_judged_elsewhere(o);
    training.stop_early = {rule};
    both.start_evaluator(std::move(follower));
    both.start_chief(training);
    const auto chief = both.success_of(*both.chief);
    CHECK(chief.global_step < 400);
    CHECK(has(chief.remark, "ended early: "));
    const auto evaluator = both.success_of(*both.evaluator);
    CHECK(evaluator.global_step == chief.global_step);
    CHECK(has(evaluator.remark, "the job ended early: "));
    REQUIRE(newest_books(o).ended);
    both.start_chief(training);
    const auto again = both.success_of(*both.chief);
    CHECK(again.steps_run == 0);
    CHECK(again.global_step == chief.global_step);
  }
}

TEST_CASE(
    "the best checkpoint of an evaluator is the chief's, also if it is the last one or no longer among the newest") {
  for (const bool smaller : {true, false})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      const small_job_options o;
      two_processes both{seed, slow_training(1s)};
      const keep_best best{.goal = {.metric = "global_step", .smaller_is_better = smaller}};
      auto follower = describe_follower_small(o);
      follower.keep_best = best;
      auto training = describe_judged_elsewhere(o);
      training.keep_best = best;
      training.basis.config.keep_checkpoint_max = 1;
      both.start_evaluator(std::move(follower));
      both.start_chief(training);
      both.success_of(*both.chief);
      const auto result = both.success_of(*both.evaluator);
      const auto all = evaluated_in(*o.files);
      const auto expected = smaller ? all.front() : int64_t{20};
      CHECK(result.best_checkpoint == "/run/model.ckpt-" + std::to_string(expected));
      REQUIRE(newest_books(o).best);
      CHECK(newest_books(o).best->id.step == expected);
      auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
      REQUIRE(store);
      CHECK((*store)->restore_step(expected));
    }
}

TEST_CASE("a verdict that cannot be looked up at once is followed later") {
  /// Fails the first look at a manifest that follows a look at the verdict.
  struct failing_once final : delegating_file_system {
    using delegating_file_system::delegating_file_system;
    bool after_verdict = false, failed = false;
    expected<std::unique_ptr<readable_file>> open(const std::string& path) override {
      auto file = delegating_file_system::open(path);
      if (std::exchange(after_verdict, file && path.ends_with(judged_file)) && !std::exchange(failed, true))
        return fail(errc::unavailable, path + " cannot be read now");
      return file;
    }
  };
  const small_job_options o{.max_steps = 400};
  const auto rule = stop_if_higher("loss", -1, {.min_steps = 10});
  two_processes both{1, slow_training(1s)};
  auto follower = describe_follower_small(o);
  follower.stop_early = {rule};
  auto training = describe_judged_elsewhere(o);
  training.stop_early = {rule};
  const auto disk = std::make_shared<failing_once>(o.files);
  training.basis.files = disk;
  both.start_evaluator(std::move(follower));
  both.start_chief(std::move(training));
  CHECK(has(both.success_of(*both.chief).remark, "ended early: "));
  CHECK(disk->failed);
}

TEST_CASE("a judgement of another job, a torn one and one of a later version are ignored, and that is said once") {
  for (const std::string& text : {judged_text({.ends = judged::end_by_rule{{{5}, 1}, "a rule", "why"}}),
                                  judged_text({}).substr(0, 20), std::string{"{}"}}) {
    const small_job_options o;
    REQUIRE(o.files->create_directories("/run"));
    REQUIRE(write_file_atomically(*o.files, "/run", std::string{judged_file}, text));
    two_processes both{1, slow_training(1s)};
    both.start_chief(describe_judged_elsewhere(o));
    CHECK(both.success_of(*both.chief).global_step == 20);
    const auto warned = warnings_in(both.chiefs.process().events());
    CHECK(std::count_if(warned.begin(), warned.end(), [](const auto& w) { return has(w, "judged.json"); }) == 1);
  }
}

}  // namespace troupe::test
