#include "tests/cluster/parsed.hpp"

namespace troupe::test {

namespace {

using tasks = std::vector<cluster_task>;

int64_t id_of(const cluster& of, const cluster_task& task) {
  auto c = of;
  c.task = task;
  return described(c).global_id_in_cluster.value_or(-1);
}

}  // namespace

TEST_CASE("[EST-1] a process without a cluster is worker 0, its own chief, one worker without servers and master") {
  const run_config config;
  CHECK(resolve_checkpoint_trigger(config) == checkpoint_trigger{.steps = std::nullopt, .secs = 600});
  CHECK(config.keep_checkpoint_max == 5);
  CHECK(config.keep_checkpoint_every_n_hours == 10000);
  CHECK(config.save_summary_steps == 100);
  CHECK(config.log_step_count_steps == 100);
  CHECK(config.session_creation_timeout_secs == 7200);
  const auto c = parsed("");
  CHECK(c.task == cluster_task{"worker", 0});
  const auto d = described(c, config);
  CHECK(d == task_description{});
  CHECK(d.kind == task_kind::alone);
  CHECK(d.is_chief);
  CHECK(d.num_worker_replicas == 1);
  CHECK(d.num_ps_replicas == 0);
  CHECK(d.master.empty());
  CHECK(d.evaluation_master.empty());
  CHECK(d.global_id_in_cluster == 0);
  CHECK(d.cluster_spec.empty());
}

TEST_CASE("[EST-8] global ids: the chief, other jobs by name and index, parameter servers last") {
  const auto c = cluster_with({"chief", 0});
  CHECK(id_of(c, {"chief", 0}) == 0);
  for (int64_t i = 0; i < 3; ++i)
    CHECK(id_of(c, {"worker", i}) == 1 + i);
  for (int64_t i = 0; i < 2; ++i)
    CHECK(id_of(c, {"ps", i}) == 4 + i);
  const auto more = cluster_with({"chief", 0}, 2, 3, {{"alpha", {"x:1", "y:1"}}});
  CHECK(id_of(more, {"chief", 0}) == 0);
  for (int64_t i = 0; i < 2; ++i) {
    CHECK(id_of(more, {"alpha", i}) == 1 + i);
    CHECK(id_of(more, {"ps", i}) == 6 + i);
  }
  for (int64_t i = 0; i < 3; ++i)
    CHECK(id_of(more, {"worker", i}) == 3 + i);
  const auto listed = cluster_with({"chief", 0}, 1, 1, {{"evaluator", {"e:1"}}});
  CHECK(id_of(listed, {"worker", 0}) == 2);  // A listed evaluator is a job like others.
}

TEST_CASE("[EST-9] an evaluator stands outside its cluster, and any index of it parses") {
  for (const int64_t index : {0, 1}) {
    const auto c = parsed(R"({"cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]},
      "eval_session_master": "y", "task": {"type": "evaluator", "index": )"
                          + std::to_string(index) + "}}");
    const auto d = described(c);
    CHECK(d.kind == task_kind::evaluator);
    CHECK(d.cluster_spec.empty());
    CHECK(d.master.empty());
    CHECK(d.evaluation_master == "y");
    CHECK(d.num_worker_replicas == 0);
    CHECK(d.num_ps_replicas == 0);
    CHECK_FALSE(d.global_id_in_cluster);
    CHECK_FALSE(d.is_chief);
    CHECK_FALSE(d.trains);
    CHECK(d.evaluates);
    CHECK(d.peers.empty());
  }
}

TEST_CASE("[EST-10] a lone chief has no master, others have their own address, and session_master is taken as it is") {
  CHECK(described(cluster_with({"chief", 0}, 0, 0)).master.empty());
  CHECK(described(parsed(R"({"cluster": {"chief": ["host:port"], "worker": ["other:port"]},
                             "task": {"type": "chief", "index": 0}})"))
            .master
        == "grpc://host:port");
  auto c = cluster_with({"ps", 1});
  CHECK(described(c).master == "grpc://ps1:1");
  CHECK(described(c, {.protocol = cluster_protocol::grpc_verbs}).master == "grpc+verbs://ps1:1");
  c.session_master = "x";
  CHECK(described(c).master == "x");
  CHECK(described({.session_master = "x"}).master == "x");
}

TEST_CASE("every kind of task has the properties of its row") {
  struct row {
    cluster_task task;
    task_kind kind;
    bool is_chief, trains, evaluates;
  };
  for (const auto& r : {row{{"chief", 0}, task_kind::chief, true, true, false},
                        row{{"worker", 1}, task_kind::worker, false, true, false},
                        row{{"ps", 0}, task_kind::parameter_server, false, false, false},
                        row{{"alpha", 0}, task_kind::other, false, false, false}}) {
    auto c = cluster_with(r.task, 2, 3, {{"alpha", {"x:1"}}});
    c.eval_session_master = "y";
    const auto d = described(c);
    CHECK(d.kind == r.kind);
    CHECK(d.is_chief == r.is_chief);
    CHECK(d.trains == r.trains);
    CHECK(d.evaluates == r.evaluates);
    CHECK(d.cluster_spec == c.jobs);
    CHECK(d.num_worker_replicas == 4);
    CHECK(d.num_ps_replicas == 2);
    CHECK(d.evaluation_master.empty());
  }
  const auto master = described({.jobs = {{"master", {"m:1"}}, {"worker", {"b:1"}}}, .task = {"master", 0}});
  CHECK(master.kind == task_kind::master);
  CHECK((master.is_chief && master.trains && master.evaluates));
  CHECK(master.num_worker_replicas == 2);
  CHECK(master.global_id_in_cluster == 0);
}

TEST_CASE("[EST-12] a worker sees the parameter servers and itself") {
  CHECK(described(cluster_with({"worker", 2})).peers == tasks{{"worker", 2}, {"ps", 0}, {"ps", 1}});
  CHECK(described(cluster_with({"chief", 0})).peers == tasks{{"chief", 0}, {"ps", 0}, {"ps", 1}});
}

TEST_CASE("parameter servers see all that TensorFlow knows but evaluators, and other tasks see everything") {
  const auto peers = [](cluster_task task) {
    return described(cluster_with(std::move(task), 1, 1, {{"alpha", {"x:1"}}, {"evaluator", {"e:1"}}})).peers;
  };
  CHECK(peers({"ps", 0}) == tasks{{"chief", 0}, {"worker", 0}, {"ps", 0}});
  CHECK(peers({"alpha", 0}) == tasks{{"chief", 0}, {"alpha", 0}, {"evaluator", 0}, {"worker", 0}, {"ps", 0}});
  const cluster legacy{.jobs = {{"master", {"m:1"}}, {"ps", {"p:1"}}, {"worker", {"b:1"}}}, .task = {"master", 0}};
  CHECK(described(legacy).peers == tasks{{"master", 0}, {"ps", 0}});
}

TEST_CASE("[EST-83] workers begin 5 seconds after one another, up to 60 or the given delay") {
  const auto delay = [](int64_t index, const run_config& config = {}) {
    return described(cluster_with({"worker", index}, 0, 21), config).start_delay_secs;
  };
  CHECK(delay(0) == 5);
  CHECK(delay(3) == 20);
  CHECK(delay(20) == 60);
  CHECK(delay(0, {.max_worker_delay_secs = 10}) == 5);
  CHECK(delay(3, {.max_worker_delay_secs = 10}) == 10);
  CHECK(delay(20, {.max_worker_delay_secs = 10}) == 10);
  CHECK(delay(20, {.max_worker_delay_secs = 0}) == 0);
  CHECK(described(cluster_with({"chief", 0})).start_delay_secs == 0);
  CHECK(described(cluster_with({"ps", 1})).start_delay_secs == 0);
}

TEST_CASE("a task listens at its own address, and needs no server in a google environment or as a lone chief") {
  CHECK(server_address(cluster_with({"worker", 1})) == "worker1:1");
  CHECK(server_address(cluster_with({"ps", 0})) == "ps0:1");
  CHECK(server_address(cluster_with({"chief", 0}, 0, 0)) == std::nullopt);
  CHECK(server_address(cluster_with({"evaluator", 0})) == std::nullopt);
  auto google = cluster_with({"chief", 0});
  google.environment = "google";
  CHECK(server_address(google) == std::nullopt);
  google.environment = "cloud";
  CHECK(server_address(google) == "chief0:1");
  auto lone = cluster_with({"chief", 0}, 0, 0);
  lone.session_master = "x";
  CHECK(server_address(lone) == "chief0:1");
}

TEST_CASE("a server whose cluster, type, index or master is missing is a state error that names it") {
  const auto refused = [](const cluster& c) {
    const auto address = server_address(c);
    REQUIRE_FALSE(address);
    CHECK(address.error().category == errc::state);
    return address.error().message;
  };
  auto masterless = cluster_with({"chief", 0});
  masterless.session_master = "";
  CHECK(refused(masterless)
        == "the process cannot start its server: session_master is '', but a cluster of several tasks needs a master");
  CHECK(refused({}) == "the process cannot start its server: there is no cluster");
  CHECK(refused(cluster_with({"", 0})) == "the process cannot start its server: task.type is missing");
  CHECK(refused(cluster_with({"chief", -1})) == "the process cannot start its server: task.index is missing");
}

TEST_CASE("a configuration that cannot be is refused for a task as everywhere") {
  CHECK(describe_task({}, {.session_creation_timeout_secs = 0}).error().message
        == "session_creation_timeout_secs must be in (0, 3000000000], not 0");
}

}  // namespace troupe::test
