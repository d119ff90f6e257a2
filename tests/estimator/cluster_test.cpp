#include "support/prediction_case.hpp"
#include "support/temporary_directory.hpp"
#include "tests/support/refused.hpp"

#include <troupe/checkpoints.hpp>
#include <troupe/commits.hpp>
#include <troupe/hooks.hpp>
#include <troupe/job.hpp>

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

TEST_CASE("training by several processes needs nodes, which is said at once, and nothing is made of it") {
  temporary_directory directory;
  const auto run = directory / "run";
  refused(train(echo_in(run, with_worker({"chief", 0})), two_steps()), errc::unimplemented,
          "task 0 of the type 'chief' cannot run yet: its cluster lists workers (b:1), and training by several "
          "processes needs nodes");
  refused(train(echo_in(run, with_worker({"worker", 0})), two_steps()), errc::unimplemented,
          "task 0 of the type 'worker' cannot run yet: training by several processes needs nodes");
  refused(train(echo_in(run, with_worker({"ps", 0})), two_steps()), errc::invalid_argument, "'ps'");
  CHECK_FALSE(std::filesystem::exists(run));
}

TEST_CASE("an evaluator and a chief refuse what they cannot do, by name") {
  temporary_directory directory;
  const auto run = directory / "run";
  const cluster chief{.jobs = {{"chief", {"a:1"}}}, .task = {"chief", 0}};
  const cluster evaluator{.jobs = {{"chief", {"a:1"}}}, .task = {"evaluator", 0}};
  refused(train(echo_in(run, evaluator), two_steps()), errc::invalid_argument, "'evaluator'");
  refused(train_and_evaluate(echo_in({}, evaluator), two_steps(), three_batches()), errc::invalid_argument,
          "model_dir must be given: the evaluator follows the checkpoints of the chief there");
  refused(train_and_evaluate(echo_in(run, evaluator), two_steps(), eval_specs{}), errc::invalid_argument,
          "an evaluator needs an evaluation");
  auto often = three_batches();
  often.every_steps = 5;
  refused(train_and_evaluate(echo_in(run, chief), two_steps(), often), errc::invalid_argument,
          "every_steps (5) is for a job that evaluates itself");
  auto reduces = two_steps();
  reduces.hooks = {*reduce_on_plateau({})};
  refused(train_and_evaluate(echo_in(run, chief), reduces, three_batches()), errc::invalid_argument,
          "reduce_on_plateau holds a job at its evaluations, and a chief leaves them to an evaluator: run as master");
  struct waits_for_evaluations : hook {
    needs begin(int64_t) override { return {.holds = {.evaluated = true}}; }
  };
  auto held = two_steps();
  held.hooks = {std::make_shared<waits_for_evaluations>()};
  refused(train_and_evaluate(echo_in(run, chief), held, three_batches()), errc::invalid_argument,
          "a hook holds the job at 'evaluated'");
}

TEST_CASE(
    "[EST-84] a ps ends after the chief, a chief of Google's environment starts no server, and one without a "
    "master cannot") {
  temporary_directory directory;
  const auto run = directory / "run";
  const cluster_jobs jobs{{"chief", {"a:1"}}, {"ps", {"b:1"}}};
  auto waiting = start(echo_in(run, cluster{.jobs = jobs, .task = {"ps", 0}}), two_steps());
  REQUIRE_MESSAGE(waiting, (waiting ? "" : waiting.error().message));
  CHECK_FALSE(waiting->wait_for(std::chrono::milliseconds{0})->has_value());
  REQUIRE(train(echo_in(run, cluster{.jobs = jobs, .task = {"chief", 0}}), two_steps()));
  const auto ended = waiting->wait(std::chrono::seconds{60});
  REQUIRE_MESSAGE(ended, (ended ? "" : ended.error().message));
  CHECK(ended->global_step == 2);

  const auto google = server_address({.jobs = jobs, .task = {"chief", 0}, .environment = "google"});
  CHECK((google && !*google));
  const auto usual = server_address({.jobs = jobs, .task = {"chief", 0}});
  CHECK((usual && *usual == "a:1"));
  refused(server_address({.jobs = jobs, .task = {"chief", 0}, .session_master = ""}), errc::state, "master");
}

TEST_CASE("a chief and an evaluator in processes of their own do what one process does, and both end") {
  temporary_directory directory;
  const auto run = directory / "run";
  const cluster_jobs jobs{{"chief", {"a:1"}}};
  auto evaluator = start(echo_in(run, cluster{.jobs = jobs, .task = {"evaluator", 0}}), {}, three_batches());
  REQUIRE_MESSAGE(evaluator, (evaluator ? "" : evaluator.error().message));
  const auto report = evaluator->report(std::chrono::seconds{60});
  REQUIRE_MESSAGE(report, (report ? "" : report.error().message));
  CHECK(report->actors.back().name == "follower");
  const auto chief = train_and_evaluate(echo_in(run, cluster{.jobs = jobs, .task = {"chief", 0}}), two_steps(),
                                        three_batches());
  REQUIRE_MESSAGE(chief, (chief ? "" : chief.error().message));
  CHECK(chief->global_step == 2);
  CHECK(chief->evaluations.empty());
  const auto evaluated = evaluator->wait(std::chrono::seconds{60});
  REQUIRE_MESSAGE(evaluated, (evaluated ? "" : evaluated.error().message));
  CHECK(evaluated->global_step == 2);
  CHECK(evaluated->metrics.at("global_step") == 2);
  CHECK(evaluator->progress().now == job_progress::phase::finished);
  CHECK(std::filesystem::exists(run + "/eval"));
  CHECK(evaluator->report(std::chrono::seconds{1}).error().category == errc::state);
}

TEST_CASE(
    "[EST-45, EST-49] who waits for a last checkpoint goes on only once there is one of that step or a later one") {
  temporary_directory directory;
  const auto run = directory / "run";
  auto training = start(echo_in(run), {.input = dataset_over(fake_batches(3)).repeat(), .steps = 4});
  REQUIRE(training);
  auto all = commits(run, {.deadline = std::chrono::seconds{60}});
  int64_t reached = -1;
  while (reached < 4) {
    const auto next = all.next();
    REQUIRE(next);
    REQUIRE(*next);
    CHECK((*next)->id.step > reached);
    reached = (*next)->id.step;
    CHECK(inspect_checkpoint((*next)->prefix)->id == (*next)->id);
  }
  CHECK(reached == 4);
  CHECK(training->wait(std::chrono::seconds{60}));
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
