#include "support/prediction_case.hpp"
#include "support/temporary_directory.hpp"
#include "tests/support/refused.hpp"

#include <troupe/estimator.hpp>

#include <doctest/doctest.h>

#include <fstream>

namespace troupe::test {

namespace {

estimator echo_in(std::optional<std::string> model_dir, std::optional<cluster> task = {}) {
  return {.model = echo_model(), .config = {.model_dir = std::move(model_dir)}, .cluster = std::move(task)};
}

train_spec two_steps() { return {.input = dataset_over(fake_batches(3)), .steps = 2}; }
eval_spec three_batches() { return {.input = dataset_over(fake_batches(3))}; }

/// A cluster of a chief and a worker, of which this process is `task`.
cluster with_worker(cluster_task task) {
  return {.jobs = {{"chief", {"a:1"}}, {"worker", {"b:1"}}}, .task = std::move(task)};
}

}  // namespace

TEST_CASE("[EST-6] a model directory is not empty, and the one of the cluster is that of the configuration") {
  CHECK(train(echo_in(""), two_steps()).error() == error{errc::invalid_argument, "model_dir must not be ''"});
  CHECK(parse_cluster(R"({"model_dir": ""})").error()
        == error{errc::invalid_argument, "TF_CONFIG: model_dir must not be ''"});
  const auto of_a = parse_cluster(R"({"model_dir": "a"})"), of_b = parse_cluster(R"({"model_dir": "b"})");
  REQUIRE((of_a && of_b));
  CHECK(with_cluster(echo_in("a"), *of_b).error()
        == error{errc::invalid_argument,
                 "model_dir is 'a' in the run configuration and 'b' in the cluster: one "
                 "directory has to be named, once or twice"});
  for (const auto& [first, second] :
       {std::pair{echo_in("a"), *of_a}, std::pair{echo_in({}), *of_a}, std::pair{echo_in("a"), cluster{}}}) {
    const auto joined = with_cluster(first, second);
    REQUIRE(joined);
    CHECK(joined->config.model_dir == "a");
    CHECK(joined->cluster == second);
  }
  CHECK_FALSE(with_cluster(echo_in({}), cluster{})->config.model_dir);
  refused(with_cluster(echo_in({}), cluster{.task = {"ps", 0}}), errc::invalid_argument, "'ps'");
}

TEST_CASE("[EST-9] train_and_evaluate refuses the second evaluator of a cluster") {
  temporary_directory directory;
  refused(train_and_evaluate(echo_in(directory / "run", with_worker({"evaluator", 1})), two_steps(), three_batches()),
          errc::invalid_argument, "a cluster has one evaluator: task.index must be 0 for it, not 1");
}

TEST_CASE("a process alone and a lone chief train, and a lone master evaluates too") {
  for (const cluster& c : {cluster{}, cluster{.jobs = {{"chief", {"a:1"}}, {"ps", {}}}, .task = {"chief", 0}},
                           cluster{.jobs = {{"master", {"a:1"}}}, .task = {"master", 0}}}) {
    const auto result = train(echo_in({}, c), two_steps());
    REQUIRE_MESSAGE(result, (result ? "" : result.error().message));
    CHECK(result->global_step == 2);
  }
  temporary_directory directory;
  CHECK(train_and_evaluate(echo_in(directory / "run", cluster{.jobs = {{"master", {"a:1"}}}, .task = {"master", 0}}),
                           two_steps(), three_batches()));
}

TEST_CASE("a job of several processes is not supported, and nothing is made of it") {
  temporary_directory directory;
  const auto run = directory / "run";
  refused(train(echo_in(run, with_worker({"chief", 0})), two_steps()), errc::unimplemented,
          "task 0 of the type 'chief'");
  refused(train(echo_in(run, with_worker({"worker", 0})), two_steps()), errc::unimplemented, "'worker'");
  refused(train_and_evaluate(echo_in(run, cluster{.jobs = {{"chief", {"a:1"}}}, .task = {"evaluator", 0}}), two_steps(),
                             three_batches()),
          errc::unimplemented, "'evaluator'");
  refused(train_and_evaluate(echo_in(run, cluster{.jobs = {{"chief", {"a:1"}}}, .task = {"chief", 0}}), two_steps(),
                             three_batches()),
          errc::unimplemented, "a chief leaves evaluations to an evaluator");
  CHECK_FALSE(std::filesystem::exists(run));
}

TEST_CASE("a cluster is read from a file as from the environment, and errors name the file") {
  temporary_directory directory;
  const std::string path = directory / "tf_config.json";
  refused(read_cluster(path), errc::not_found, path);
  std::ofstream{path} << R"({"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}})";
  CHECK(read_cluster(path) == cluster{.jobs = {{"chief", {"a:1"}}}, .task = {"chief", 0}});
  std::ofstream{path} << "[]";
  refused(read_cluster(path), errc::invalid_argument, path + ": TF_CONFIG: it must be an object, not []");
  std::ofstream{path, std::ios::trunc};
  refused(read_cluster(path), errc::invalid_argument, path + ": it is empty; a process that works alone has {}");
}

}  // namespace troupe::test
