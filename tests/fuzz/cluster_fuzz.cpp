#include "cluster/task_duties.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  return {"",
          "{}",
          R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]},
              "task": {"type": "worker", "index": "1"}, "model_dir": "m", "session_master": "x",
              "eval_session_master": "y", "environment": "google", "rpc_layer": 1})",
          R"({"cluster": {"master": ["a:1"], "alpha": []},
              "task": {"type": "master", "index": 0}, "service": {"a": [1.5]}})",
          R"({"cluster": {"chief": ["a:1"]},
              "task": {"type": "evaluator", "index": 9223372036854775807}})",
          nested("{\"cluster\":", "{}", "}"),
          nested("[", "", "]")};
}

void run(std::string_view input) {
  const auto c = parse_cluster(input);
  if (!c)
    return require(c.error().message.starts_with("TF_CONFIG: "), "an error names what was read");
  require(validate(*c).has_value(), "what was read is valid");
  const auto task = need(describe_task(*c));
  const bool in_cluster = task.kind != task_kind::alone && task.kind != task_kind::evaluator;
  require(!in_cluster || std::count(task.peers.begin(), task.peers.end(), c->task) == 1, "a task reaches itself");
  require(task.start_delay_secs >= 0 && task.start_delay_secs <= 60, "a delay is bounded");
  require(may_train(*c).has_value() == duties_of(*c, {}, true).has_value(), "who may train has duties");
  static_cast<void>(server_address(*c));
}

}  // namespace troupe::fuzz
