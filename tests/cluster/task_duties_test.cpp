#include "cluster/task_duties.hpp"

#include "tests/cluster/parsed.hpp"

namespace troupe::test {

namespace {

using duties = std::vector<duty>;

const duties of_all_tasks{duty::input,      duty::user_hooks,   duty::step_limit,
                          duty::not_finite, duty::progress_log, duty::training_hooks};

duties after(duties first, const duties& then = of_all_tasks) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace

TEST_CASE(
    "[EST-26] a chief has all duties in order, a worker those from the input on; beside a master the first worker "
    "measures") {
  const run_config config;
  const auto of = [&](const cluster& c) { return duties_of(c, config, true); };
  const auto beside_master = [](cluster_task task) {
    return cluster{.jobs = {{"master", {"m:1"}}, {"worker", {"a:1", "b:1"}}}, .task = std::move(task)};
  };
  const duties of_chief = after({duty::checkpoints, duty::chief_hooks, duty::step_counter, duty::summaries});
  CHECK(of({}) == of_chief);
  CHECK(of(cluster_with({"chief", 0})) == of_chief);
  CHECK(of({.jobs = {{"master", {"m:1"}}, {"ps", {"p:1"}}}, .task = {"master", 0}}) == of_chief);
  CHECK(of(cluster_with({"worker", 0})) == of_all_tasks);
  CHECK(of(cluster_with({"worker", 1})) == of_all_tasks);
  CHECK(of(beside_master({"master", 0})) == after({duty::checkpoints, duty::chief_hooks}));
  CHECK(of(beside_master({"worker", 0})) == after({duty::step_counter, duty::summaries}));
  CHECK(of(beside_master({"worker", 1})) == of_all_tasks);
}

TEST_CASE("what the configuration switches off is nobody's duty") {
  const duties few{duty::chief_hooks, duty::input, duty::user_hooks, duty::not_finite, duty::training_hooks};
  CHECK(duties_of(
            {}, {.save_summary_steps = 0, .save_checkpoints_steps = std::nullopt, .log_step_count_steps = std::nullopt},
            false)
        == few);
}

TEST_CASE("parameter servers and evaluators do not train and have no duties of training") {
  for (const auto& c : {cluster{}, cluster_with({"chief", 0}), cluster_with({"worker", 1})})
    CHECK(may_train(c));
  const auto server = cluster_with({"ps", 0});
  CHECK(may_train(server).error()
        == error{errc::invalid_argument, "train() cannot run in a task of the type 'ps': use train_and_evaluate()"});
  CHECK(duties_of(server, {}, true).error() == may_train(server).error());
  CHECK(may_train(cluster_with({"evaluator", 0})).error().category == errc::invalid_argument);
}

TEST_CASE("train_and_evaluate knows the types of TensorFlow and one evaluator") {
  for (const auto& c : {cluster{}, cluster_with({"chief", 0}), cluster_with({"worker", 1}), cluster_with({"ps", 0}),
                        cluster_with({"evaluator", 0})})
    CHECK(may_train_and_evaluate(c));
  CHECK(may_train_and_evaluate(cluster_with({"evaluator", 1})).error()
        == error{errc::invalid_argument, "a cluster has one evaluator: task.index must be 0 for it, not 1"});
  for (const std::string type : {"alpha", "local"})
    CHECK(may_train_and_evaluate(cluster_with({type, 0}, 0, 0, {{type, {"x:1"}}})).error()
          == error{errc::invalid_argument,
                   "train_and_evaluate() runs in tasks of the types chief, worker, master, evaluator and ps, not in "
                   "one of the type '"
                       + type + "'"});
  CHECK_FALSE(may_train_and_evaluate(cluster_with({"", 0})));
}

}  // namespace troupe::test
