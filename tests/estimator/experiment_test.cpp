// The options of an experiment, and which schedule a task runs.
#include "estimator/experiment_run.hpp"
#include "tests/estimator/scripted_time.hpp"
#include "tests/estimator/small_experiment.hpp"
#include "tests/support/refused.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

experiment edited(const std::function<void(experiment&)>& edit) {
  auto e = small_experiment("/nowhere");
  edit(e);
  return e;
}

/// A cluster in which the process is that task.
cluster cluster_with(cluster_task task) {
  return {.jobs = {{"chief", {"a:1"}}, {"worker", {"b:1", "c:1"}}, {"ps", {"d:1"}}}, .task = std::move(task)};
}

}  // namespace

TEST_CASE("[SUP-43] options that cannot be are refused by name, before any schedule begins") {
  const auto wrong = [](const std::function<void(experiment&)>& edit, const std::string& names) {
    const auto e = edited(edit);
    refused(validate(e), errc::invalid_argument, names);
    for (const auto s : {schedule::train, schedule::continuous_eval, schedule::train_and_evaluate, schedule::test,
                         schedule::continuous_train_and_eval, schedule::run_std_server})
      CHECK(run_experiment(e, s).error() == validate(e).error());
  };
  wrong([](experiment& e) { e.train_steps_per_iteration = 0; },
        "experiment: train_steps_per_iteration must be at least 1, not 0");
  wrong([](experiment& e) { e.min_eval_frequency = -1; }, "min_eval_frequency must be at least 0, not -1");
  wrong([](experiment& e) { e.local_eval_frequency = -1; }, "local_eval_frequency");
  wrong([](experiment& e) { e.eval_delay_secs = -0.5; }, "eval_delay_secs must be at least 0, not -0.5");
  wrong([](experiment& e) { e.continuous_eval_throttle_secs = std::nan(""); }, "continuous_eval_throttle_secs");
  wrong([](experiment& e) { e.check_interval_secs = -1; }, "check_interval_secs");
  wrong([](experiment& e) { e.train_steps = 0; }, "experiment: train_steps must be at least 1, not 0");
  wrong([](experiment& e) { e.eval_steps = 0; }, "experiment: eval_steps must be at least 1, not 0");
  wrong([](experiment& e) { e.train_hooks = {nullptr}; }, "train_hooks[0] is null");
  wrong([](experiment& e) { e.eval_hooks = {std::make_shared<hook>(), nullptr}; }, "eval_hooks[1] is null");
  wrong([](experiment& e) { e.saving_listeners = {nullptr}; }, "saving_listeners[0] is null");
  wrong([](experiment& e) { e.exporters = {latest_exporter("a"), latest_exporter("a")}; }, "'a'");
  CHECK(validate(experiment{}));
  CHECK(validate(small_experiment("/nowhere")));
}

TEST_CASE("[SUP-43] a schedule without its data, or without a directory of checkpoints, is refused by name") {
  const auto no_train = edited([](experiment& e) { e.train_data = {}; });
  const auto no_eval = edited([](experiment& e) { e.eval_data = {}; });
  const auto no_directory = edited([](experiment& e) { e.estimator.config.model_dir = {}; });
  refused(no_train.train(), errc::invalid_argument, "experiment: train needs train_data, and there are none");
  refused(no_train.continuous_eval_on_train_data(), errc::invalid_argument, "needs train_data");
  refused(no_train.test(), errc::invalid_argument, "experiment: test needs train_data");
  refused(no_eval.evaluate(0), errc::invalid_argument, "experiment: evaluate needs eval_data, and there are none");
  refused(no_eval.continuous_eval(), errc::invalid_argument, "experiment: continuous_eval needs eval_data");
  refused(no_eval.local_run(), errc::invalid_argument, "experiment: local_run needs eval_data");
  refused(no_directory.evaluate(0), errc::invalid_argument, "experiment: evaluate needs a model_dir");
  refused(no_directory.train_and_evaluate(), errc::invalid_argument,
          "experiment: train_and_evaluate needs a model_dir");
  refused(small_experiment("/nowhere").continuous_eval({.delay_secs = -1}), errc::invalid_argument, "delay_secs");
}

TEST_CASE("[SUP-44] workers 0, 1, 5 and 20 begin after 0, 5, 25 and 60 s, or at steps 0, 5545, 14334 and 24356") {
  const std::vector<std::pair<int64_t, std::pair<double, int64_t>>> all{
      {0, {0, 0}}, {1, {5, 5545}}, {5, {25, 14334}}, {20, {60, 24356}}};
  for (const auto& [id, wanted] : all) {
    CHECK(start_delay_of(id, false) == start_delay{.secs = wanted.first});
    CHECK(start_delay_of(id, true) == start_delay{.step = wanted.second});
  }
}

TEST_CASE(
    "[SUP-44] a task begins after its seconds, or once a checkpoint has reached its step; it does not wait for "
    "ever") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run");
  const auto time = std::make_shared<scripted_time>();
  experiment_run run{e, time};
  REQUIRE(run.wait(start_delay_of(5, false)));
  CHECK(time->at == 25s);
  for (const int64_t step : {5, 10, 15})
    time->events.emplace(100s + std::chrono::seconds{step}, [&e, step] {
      e.train_steps = step;
      const auto trained = e.train();
      REQUIRE_MESSAGE(trained, why(trained));
    });
  REQUIRE(run.wait({.step = 7}));
  CHECK(newest_step(directory / "run") == 10);
  CHECK(time->at >= 110s);
  CHECK(time->at < 115s);
  e.estimator.config.session_creation_timeout_secs = 300;
  refused(run.wait({.step = 16}), errc::deadline_exceeded, "waits for the chief to reach step 16");
  CHECK(time->at >= 415s);
  CHECK(time->at < 421s);
  SUBCASE("a training begins after the delay that is given") {
    time->at = 0s;
    e.train_steps = 20;
    CHECK(run.train(30)->steps_run == 5);
    CHECK(time->at == 30s);
  }
}

TEST_CASE("[SUP-52] without a cluster the default is train_and_evaluate, and a task has one by its type") {
  CHECK(default_schedule({}) == schedule::train_and_evaluate);
  CHECK(default_schedule(cluster{}) == schedule::train_and_evaluate);
  CHECK(default_schedule(cluster_with({"master", 0})) == schedule::train_and_evaluate);
  CHECK(default_schedule(cluster_with({"ps", 0})) == schedule::run_std_server);
  CHECK(default_schedule(cluster_with({"worker", 1})) == schedule::train);
  refused(default_schedule(cluster_with({"", 0})), errc::invalid_argument, "its task has no type");
  for (const std::string type : {"chief", "evaluator", "other"})
    refused(default_schedule(cluster_with({type, 0})), errc::invalid_argument, "'" + type + "'");
  auto e = small_experiment("/nowhere");
  e.estimator.cluster = cluster_with({"chief", 0});
  CHECK(run_experiment(e).error() == default_schedule(e.estimator.cluster).error());
}

TEST_CASE("[SUP-52] each schedule has a name, and another name is refused with those that there are") {
  for (const auto s : {schedule::train, schedule::evaluate, schedule::continuous_eval,
                       schedule::continuous_eval_on_train_data, schedule::train_and_evaluate, schedule::local_run,
                       schedule::continuous_train_and_eval, schedule::run_std_server, schedule::test})
    CHECK(parse_schedule(to_string(s)) == s);
  refused(parse_schedule("continuous"), errc::invalid_argument,
          "there is no schedule 'continuous': the schedules are train, evaluate, continuous_eval, "
          "continuous_eval_on_train_data, train_and_evaluate, local_run, continuous_train_and_eval, run_std_server, "
          "test");
}

TEST_CASE("[SUP-52] a task that cannot run a schedule is refused at once, and nothing is made") {
  const temporary_directory directory;
  auto e = small_experiment(directory / "run");
  refused(run_experiment(e, schedule::run_std_server), errc::invalid_argument, "run_std_server needs a cluster");
  e.estimator.cluster = cluster_with({"worker", 1});
  refused(run_experiment(e, schedule::run_std_server), errc::invalid_argument,
          "run_std_server is for a task of the type 'ps', not 'worker'");
  refused(run_experiment(e), errc::unimplemented, "'worker'");  // Not after its delay.
  refused(e.train_and_evaluate(), errc::invalid_argument, "run as master");
  e.estimator.cluster = cluster{.jobs = {{"chief", {"a:1"}}}, .task = {"chief", 0}};
  for (const auto s :
       {schedule::train_and_evaluate, schedule::local_run, schedule::test, schedule::continuous_train_and_eval})
    refused(run_experiment(e, s), errc::invalid_argument, "a task of the type 'chief' does not: run as master");
  CHECK_FALSE(std::filesystem::exists(directory / "run"));
  const auto elsewhere = with_cluster(e.estimator, cluster{.model_dir = "/elsewhere"});
  refused(elsewhere, errc::invalid_argument, "'/elsewhere'");
}

}  // namespace troupe::test
