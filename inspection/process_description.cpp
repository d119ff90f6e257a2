// Describes what a process does for a job, as lines for people and as JSON.
#include "inspection/json_parts.hpp"
#include "inspection/tables.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

namespace {

using json = description_json;

std::string name_of(const cluster_task& task) { return printable(task.type) + " " + std::to_string(task.index); }

std::string listed(const std::vector<std::string>& names) { return joined(names, ", ", printable); }

/// "dnn (train): 26 parameters, 26 trainable; a program for 32 rows takes 1.2 kB and 3328 FLOPs"
std::string line_of(const graph_description& model) {
  return printable(model.model) + " (" + std::string{to_string(model.mode)} + "): " + std::to_string(model.parameters)
         + " parameters, " + std::to_string(model.trainable_parameters) + " trainable; a program for "
         + std::to_string(model.program.rows) + " rows takes " + bytes_text(model.program.arena_bytes) + " and "
         + std::to_string(model.program.flops) + " FLOPs\n";
}

}  // namespace

std::string to_text(const process_description& r) {
  const auto& task = r.task;
  std::string text = task.kind == task_kind::alone ? "a process that works alone" : name_of(r.id) + " of a cluster";
  text += task.trains      ? task.evaluates ? ": trains and evaluates\n" : ": trains\n"
          : task.evaluates ? ": evaluates\n"
                           : ": keeps variables, and reads no data\n";
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](const char* what, std::string value) {
    if (!value.empty())
      rows.push_back({what, std::move(value)});
  };
  add("master", printable(task.master));
  add("evaluation master", printable(task.evaluation_master));
  add("listens at", printable(r.server.value_or("")));
  add("reaches", joined(task.peers, ", ", name_of));
  if (task.start_delay_secs > 0)
    add("begins after", shortest_text(task.start_delay_secs) + " s");
  add("duties", listed(r.duties));
  text += table(rows, "  ");
  for (const auto& model : r.models)
    text += line_of(model);
  return r.plan ? text + to_text(*r.plan) : text;
}

std::string to_json(const process_description& r) {
  const auto task_json = [](const cluster_task& task) { return json{{"type", task.type}, {"index", task.index}}; };
  const auto& task = r.task;
  json j{{"kind", "process"},
         {"task", task.kind == task_kind::alone ? json(nullptr) : task_json(r.id)},
         {"is_chief", task.is_chief},
         {"trains", task.trains},
         {"evaluates", task.evaluates},
         {"cluster", task.cluster_spec},
         {"master", task.master},
         {"evaluation_master", task.evaluation_master},
         {"num_worker_replicas", task.num_worker_replicas},
         {"num_ps_replicas", task.num_ps_replicas},
         {"global_id_in_cluster", or_null(task.global_id_in_cluster)},
         {"server", or_null(r.server)},
         {"start_delay_secs", task.start_delay_secs},
         {"duties", r.duties}};
  j["peers"] = array_of(task.peers, task_json);
  j["models"] = array_of(r.models, [](const auto& model) {
    return json{{"model", model.model},           {"mode", to_string(model.mode)},
                {"parameters", model.parameters}, {"trainable_parameters", model.trainable_parameters},
                {"rows", model.program.rows},     {"arena_bytes", model.program.arena_bytes},
                {"flops", model.program.flops}};
  });
  j["plan"] = r.plan ? json::parse(to_json(*r.plan)) : json(nullptr);
  return dumped(j);
}

}  // namespace troupe
