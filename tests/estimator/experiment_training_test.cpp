// The schedules of an experiment that train and evaluate in one job.
#include "tests/estimator/small_experiment.hpp"
#include "tests/support/refused.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE(
    "[SUP-48] local training of 10 steps evaluates each checkpoint that it has saved, and exports the last, once") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run");
  e.check_interval_secs = 0;
  e.exporters = {latest_exporter(), best_exporter("best"), final_exporter()};
  const auto result = e.train_and_evaluate();
  REQUIRE_MESSAGE(result, why(result));
  CHECK(evaluated_in(directory / "run", "eval") == steps_list{0, 5, 10});
  CHECK(result->global_step == 10);
  CHECK(result->evaluation->metrics.at("global_step") == 10);
  CHECK(result->training->steps_run == 10);
  CHECK(result->evaluation->checkpoint == directory / "run/model.ckpt-10");
  REQUIRE(result->exports.size() == 3);
  for (const auto& path : result->exports)
    CHECK_FALSE(path.empty());
  for (const std::string name : {"latest", "best", "final"})
    CHECK(exports_of(directory / "run", name) == 1);
}

TEST_CASE("[SUP-48] evaluations keep the steps and the seconds between them that are asked for, but for the last") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "steps", 40);
  e.check_interval_secs = 0;
  e.min_eval_frequency = 12;
  REQUIRE(e.train_and_evaluate());
  CHECK(evaluated_in(directory / "steps", "eval") == steps_list{0, 15, 30, 40});
  e = small_experiment(directory / "secs", 20);
  e.check_interval_secs = 3600;
  REQUIRE(e.train_and_evaluate());
  CHECK(evaluated_in(directory / "secs", "eval") == steps_list{0, 20});
  e = small_experiment(directory / "local", 20);
  e.check_interval_secs = 0;
  e.local_eval_frequency = 10;
  REQUIRE(e.local_run());
  CHECK(evaluated_in(directory / "local", "eval") == steps_list{0, 10, 20});
}

TEST_CASE("[SUP-49] with a frequency of 0, and in a local run without one, only the last checkpoint is evaluated") {
  for (const bool local : {false, true}) {
    const temporary_directory directory;
    auto e = small_experiment(directory / "run");
    e.min_eval_frequency = local ? 1 : 0;
    e.exporters = {latest_exporter()};
    const auto result = local ? e.local_run() : e.train_and_evaluate();
    REQUIRE_MESSAGE(result, why(result));
    CHECK(evaluated_in(directory / "run", "eval") == steps_list{10});
    CHECK(result->evaluation->metrics.at("global_step") == 10);
    CHECK(exports_of(directory / "run") == 1);
  }
}

TEST_CASE(
    "[SUP-49] an export per checkpoint evaluates steps 0, 5 and 10 under the name intermediate_export, and the results "
    "are those of step 10") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run");
  e.checkpoint_and_export = true;
  e.min_eval_frequency = 0;
  e.exporters = {latest_exporter()};
  const auto result = e.train_and_evaluate();
  REQUIRE_MESSAGE(result, why(result));
  CHECK(evaluated_in(directory / "run", "eval_intermediate_export") == steps_list{0, 5, 10});
  CHECK_FALSE(std::filesystem::exists(directory / "run/eval"));
  CHECK(result->evaluation->metrics.at("global_step") == 10);
  REQUIRE(result->exports.size() == 1);
  CHECK(result->exports[0].starts_with(directory / "run/export/latest/"));
  CHECK(exports_of(directory / "run") == 3);
  // Run again it has nothing to do.
  const auto again = e.train_and_evaluate();
  REQUIRE_MESSAGE(again, why(again));
  CHECK(again->training->steps_run == 0);
  CHECK(exports_of(directory / "run") == 3);
}

TEST_CASE("[SUP-50] an experiment that trains and evaluates twice has its hooks once in each") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run", 10);
  const auto hook = std::make_shared<counting_hook>();
  e.train_hooks = {hook};
  e.check_interval_secs = 0;
  REQUIRE(e.train_and_evaluate());
  CHECK(hook->begun == 1);
  CHECK(e.train_hooks.size() == 1);
  e.train_steps = 20;
  REQUIRE(e.train_and_evaluate());
  CHECK(hook->begun == 2);
  CHECK(evaluated_in(directory / "run", "eval") == steps_list{0, 5, 10, 15, 20});
}

TEST_CASE("[SUP-52] a smoke run makes one step, evaluates one batch without hooks, and exports") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run");
  const auto hook = std::make_shared<counting_hook>();
  e.eval_hooks = {hook};
  e.exporters = {latest_exporter()};
  const auto result = run_experiment(e, schedule::test);
  REQUIRE_MESSAGE(result, why(result));
  CHECK(result->training->global_step == 1);
  CHECK(result->global_step == 1);
  CHECK(evaluated_in(directory / "run", "eval_one_pass") == steps_list{1});
  CHECK(hook->begun == 0);
  CHECK(exports_of(directory / "run") == 1);
  auto one_batch = e;
  one_batch.eval_steps = 1;
  one_batch.eval_hooks.clear();
  CHECK(result->evaluation->metrics == one_batch.evaluate(0)->metrics);
}

TEST_CASE("[SUP-52] the default schedule without a cluster trains and evaluates, and so does a lone master") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "alone");
  CHECK(run_experiment(e)->evaluation->metrics.at("global_step") == 10);
  e = small_experiment(directory / "master");
  e.estimator.cluster = cluster{.jobs = {{"master", {"a:1"}}}, .task = {"master", 0}};
  CHECK(run_experiment(e)->evaluation->metrics.at("global_step") == 10);
}

TEST_CASE("[SUP-52] a ps waits for the end of the job that the chief has trained") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run");
  const cluster_jobs jobs{{"chief", {"a:1"}}, {"ps", {"b:1"}}};
  e.estimator.cluster = cluster{.jobs = jobs, .task = {"chief", 0}};
  const auto trained = run_experiment(e, schedule::train);
  REQUIRE_MESSAGE(trained, why(trained));
  CHECK(trained->global_step == 10);
  e.estimator.cluster->task = {"ps", 0};
  const auto served = run_experiment(e);
  REQUIRE_MESSAGE(served, why(served));
  CHECK(served->global_step == 10);
  CHECK_FALSE(served->evaluation);
}

TEST_CASE("train_and_evaluate needs checkpoints, which the error says") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run");
  e.estimator.config.save_checkpoints_steps = std::nullopt;
  for (const int64_t frequency : {0, 1}) {
    e.min_eval_frequency = frequency;
    refused(e.train_and_evaluate(), errc::invalid_argument, "needs checkpoints");
  }
}

}  // namespace troupe::test
