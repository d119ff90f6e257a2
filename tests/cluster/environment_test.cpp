#include "tests/cluster/parsed.hpp"
#include "tests/support/has.hpp"

#include <cstdlib>

namespace troupe::test {

namespace {

/// The message of an invalid_argument, after "TF_CONFIG: ".
std::string refused(std::string_view text) {
  CAPTURE(text);
  const auto c = parse_cluster(text);
  REQUIRE_FALSE(c);
  CHECK(c.error().category == errc::invalid_argument);
  const std::string before = "TF_CONFIG: ";
  REQUIRE(c.error().message.starts_with(before));
  return c.error().message.substr(before.size());
}

/// A text with the given jobs, as the inside of an object, and the given task.
std::string with(const std::string& jobs, const std::string& task) {
  return R"({"cluster": {)" + jobs + R"(}, "task": )" + task + "}";
}

const std::string chief = R"("chief": ["a:1"])", workers = R"("worker": ["b:1", "c:1"])",
                  first_chief = R"({"type": "chief", "index": 0})";

/// Sets TF_CONFIG until the end of the scope.
class environment_variable {
 public:
  explicit environment_variable(const char* text) { ::setenv("TF_CONFIG", text, 1); }
  ~environment_variable() { ::unsetenv("TF_CONFIG"); }
};

}  // namespace

TEST_CASE("an error stays readable for a number of a million digits and a job of a hundred thousand addresses") {
  CHECK(refused(R"({"task": {"index": )" + std::string(1'000'000, '1') + "}}").size() < 1'000);
  std::string many = R"("a:1")";
  for (int i = 1; i < 100'000; ++i)
    many += R"(, "a:1")";
  const auto text = refused(with(chief + R"(, "worker": [)" + many + "]", R"({"type": "walker", "index": 0})"));
  CHECK(has(text, "worker: 100000 addresses"));
  CHECK(text.size() < 1'000);
}

TEST_CASE("a text has jobs, a task and all other keys, and unknown keys are ignored") {
  const auto c = parsed(R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]},
    "task": {"type": "worker", "index": 1, "trial": "7"}, "rpc_layer": "grpc", "model_dir": "runs/a",
    "session_master": "x", "eval_session_master": "y", "environment": "cloud", "service": {"b": [1, null], "a": {}}})");
  CHECK(c
        == cluster{.jobs = {{"chief", {"a:1"}}, {"worker", {"b:1", "c:1"}}},
                   .task = {"worker", 1},
                   .model_dir = "runs/a",
                   .session_master = "x",
                   .eval_session_master = "y",
                   .environment = "cloud",
                   .service = R"({"a": {}, "b": [1, null]})"});
}

TEST_CASE("an empty text, an empty object and an empty cluster are a process alone") {
  for (const auto* text :
       {"", "{}", R"({"cluster": {}})", R"({"task": {}})", R"({"task": {"type": "worker", "index": "0"}})"})
    CHECK(parsed(text) == cluster{});
}

TEST_CASE("an index may be a text of digits, and no other text") {
  CHECK(parsed(with(chief + ", " + workers, R"({"type": "worker", "index": "1"})")).task == cluster_task{"worker", 1});
  for (const std::string text : {"", " 1", "1.0", "one", "99999999999999999999"})
    CHECK(refused(with(chief + ", " + workers, R"({"type": "worker", "index": ")" + text + "\"}"))
          == "task.index must be a whole number of 64 bits, not \"" + text + "\"");
}

TEST_CASE("[EST-7] a malformed cluster is refused, naming the item") {
  CHECK(refused(with(workers, R"({"type": "worker", "index": 0})"))
        == "cluster must have a chief, not only {worker: [b:1, c:1]}");
  CHECK(refused(with(R"("chief": ["a:1", "b:1"])", first_chief))
        == "cluster.chief must be a list of exactly one address, not [a:1, b:1]");
  CHECK(refused(with(chief, R"({"index": 0})"))
        == "task.type is missing: it names the job of this process in the cluster");
  CHECK(refused(R"({"cluster": {"chief": ["a:1"]}})").starts_with("task.type is missing"));
  CHECK(refused(with(chief, R"({"type": "", "index": 0})"))
        == "task.type must name the job of this process in the cluster, not ''");
  CHECK(refused(with(chief, R"({"type": "chief"})"))
        == "task.index is missing: it is the place of this process in the list cluster.chief");
  CHECK(refused(with(chief, R"({"type": "chief", "index": -1})")) == "task.index must be at least 0, not -1");
  CHECK(refused(with(chief + ", " + workers, R"({"type": "worker", "index": 2})"))
        == "task.index must be below 2, the number of addresses of cluster.worker, not 2");
  CHECK(refused(with(chief, R"({"type": "ps", "index": 0})"))
        == "task.type must be evaluator or a job of the cluster, not 'ps': the cluster is {chief: [a:1]}");
}

TEST_CASE("a value of another kind is refused with its key") {
  CHECK(refused("{").starts_with("it is no JSON: "));
  CHECK(refused(" ").starts_with("it is no JSON: "));
  CHECK(refused("[1]") == "it must be an object, not [1]");
  CHECK(refused("3") == "it must be an object, not 3");
  CHECK(refused("null") == "it must be an object, not null");
  CHECK(refused(R"({"cluster": ["a:1"]})") == "cluster must be an object, not [\"a:1\"]");
  CHECK(refused(R"({"task": "chief"})") == "task must be an object, not \"chief\"");
  CHECK(refused(with(R"("chief": "a:1")", first_chief)) == "cluster.chief must be a list, not \"a:1\"");
  CHECK(refused(with(R"("chief": {"0": "a:1"})", first_chief)) == "cluster.chief must be a list, not {\"0\": \"a:1\"}");
  CHECK(refused(with(R"("chief": [], "worker": ["b:1"])", first_chief))
        == "cluster.chief must be a list of exactly one address, not []");
  CHECK(refused(with(R"("chief": [7])", first_chief)) == "cluster.chief[0] must be a text, not 7");
  CHECK(refused(with(R"("chief": [""])", first_chief))
        == "cluster.chief[0] must be the address of a task, as \"host:port\", not \"\"");
  CHECK(refused(with(chief, R"({"type": 3, "index": 0})")) == "task.type must be a text, not 3");
  CHECK(refused(with(chief, R"({"type": "chief", "index": 0.0})"))
        == "task.index must be a whole number of 64 bits, not 0.0");
  CHECK(refused(with(chief, R"({"type": "chief", "index": false})"))
        == "task.index must be a whole number of 64 bits, not false");
  CHECK(refused(with(chief, R"({"type": "chief", "index": null})"))
        == "task.index must be a whole number of 64 bits, not null");
  for (const std::string key : {"model_dir", "session_master", "eval_session_master", "environment"})
    CHECK(refused("{\"" + key + "\": 1}") == key + " must be a text, not 1");
  CHECK(refused(R"({"task": {}, "task": {}})") == "an object has the key \"task\" twice");
}

TEST_CASE(
    "[EST-11] a service that is no object is a type error; masters stand beside no chief and no evaluator; alone "
    "a process is worker 0") {
  const auto service = parse_cluster(R"({"service": [1, 2]})");
  REQUIRE_FALSE(service);
  CHECK(service.error() == error{errc::type, "TF_CONFIG: service must be an object, not [1, 2]"});
  CHECK(refused(with(chief + R"(, "master": ["m:1"])", first_chief))
        == "cluster must have either a chief or a master, not both: {chief: [a:1], master: [m:1]}");
  CHECK(refused(with(R"("master": ["m:1"])", R"({"type": "evaluator", "index": 0})"))
        == "task.type cannot be evaluator in a cluster with a master, which evaluates itself");
  CHECK(refused(R"({"task": {"type": "ps"}})") == "task.type must be worker in a process without a cluster, not 'ps'");
  CHECK(refused(R"({"task": {"type": "worker", "index": 1}})")
        == "task.index must be 0 in a process without a cluster, not 1");
  CHECK(refused(R"({"task": {"type": ""}})") == "task.type must be worker in a process without a cluster, not ''");
}

TEST_CASE("[EST-6] the empty text is no model directory of a cluster") {
  CHECK(refused(R"({"model_dir": ""})") == "model_dir must not be ''");
}

TEST_CASE("an evaluator's index has no upper bound, listed or not, and a job may have any name and no task") {
  for (const auto& jobs : {chief, chief + R"(, "evaluator": ["e:1"])"})
    CHECK(parsed(with(jobs, R"({"type": "evaluator", "index": 7})")).task == cluster_task{"evaluator", 7});
  CHECK(refused(with(chief, R"({"type": "evaluator", "index": -1})")) == "task.index must be at least 0, not -1");
  CHECK(parsed(with(chief + R"(, "alpha": ["x:1"], "ps": [])", R"({"type": "alpha", "index": 0})")).jobs.size() == 3);
}

TEST_CASE("a cluster that a program made is held to the same rules") {
  CHECK(validate(cluster{}));
  CHECK(validate(cluster_with({"worker", 2})));
  CHECK(
      validate(cluster_with({"worker", 3})).error()
      == error{errc::invalid_argument, "task.index must be below 3, the number of addresses of cluster.worker, not 3"});
  CHECK(has(validate(cluster{.task = {"chief", 0}}).error().message, "task.type"));
}

TEST_CASE("the cluster of the process is that of its environment, and a process without TF_CONFIG is alone") {
  ::unsetenv("TF_CONFIG");
  CHECK(cluster_of_process() == cluster{});
  {
    const environment_variable set{""};
    CHECK(cluster_of_process() == cluster{});
  }
  const auto text = with(chief, first_chief);
  const environment_variable set{text.c_str()};
  CHECK(cluster_of_process() == parsed(text));
}

}  // namespace troupe::test
