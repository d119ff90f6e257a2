// What follows from a cluster for its task.
#include "words/start_delay.hpp"

#include <troupe/cluster.hpp>
#include <troupe/options/run_config_fields.hpp>

#include <algorithm>

namespace troupe {

namespace {

task_kind kind_of(const cluster& c) {
  if (c.jobs.empty())
    return task_kind::alone;
  for (const auto k :
       {task_kind::chief, task_kind::master, task_kind::worker, task_kind::parameter_server, task_kind::evaluator})
    if (c.task.type == to_string(k))
      return k;
  return task_kind::other;
}

/// All tasks, by global id.
std::vector<cluster_task> tasks_of(const cluster_jobs& jobs) {
  std::vector<cluster_task> all;
  const auto add = [&all](const std::string& type, size_t tasks) {
    for (size_t i = 0; i < tasks; ++i)
      all.push_back({type, static_cast<int64_t>(i)});
  };
  const auto add_job = [&](const char* type) {
    if (const auto job = jobs.find(type); job != jobs.end())
      add(type, job->second.size());
  };
  add_job("chief");
  add_job("master");
  for (const auto& [type, addresses] : jobs)  // Sorted by type.
    if (type != "chief" && type != "master" && type != "ps")
      add(type, addresses.size());
  add_job("ps");
  return all;
}

/// Whether `from` has to reach `to`.
bool sees(const cluster_task& from, const cluster_task& to) {
  if (from.type == "chief" || from.type == "master" || from.type == "worker")
    return to.type == "ps" || to == from;
  if (from.type == "ps")
    return to.type == "ps" || to.type == "worker" || to.type == "chief" || to.type == "master";
  return true;
}

int64_t tasks_in(const cluster_jobs& jobs, const char* type) {
  const auto job = jobs.find(type);
  return job == jobs.end() ? 0 : static_cast<int64_t>(job->second.size());
}

std::string master_of(const cluster& c, size_t tasks, const run_config& config) {
  if (c.session_master)
    return *c.session_master;
  if (tasks <= 1)
    return "";
  return option_text(config.protocol.value_or(cluster_protocol::grpc)) + "://"
         + c.jobs.at(c.task.type)[static_cast<size_t>(c.task.index)];
}

double start_delay_of(int64_t worker, const run_config& config) {
  constexpr double delay_of_each = 5, delay_max = 60;
  const double cap = config.max_worker_delay_secs ? static_cast<double>(*config.max_worker_delay_secs) : delay_max;
  return start_delay_secs(worker, delay_of_each, cap);
}

}  // namespace

std::string_view to_string(task_kind k) noexcept {
  switch (k) {
    case task_kind::alone: return "alone";
    case task_kind::chief: return "chief";
    case task_kind::master: return "master";
    case task_kind::worker: return "worker";
    case task_kind::parameter_server: return "ps";
    case task_kind::evaluator: return "evaluator";
    case task_kind::other: return "other";
  }
  return "unknown";
}

expected<task_description> describe_task(const cluster& c, const run_config& config) {
  if (auto right = validate(c).and_then([&] { return validate(config); }); !right)
    return fail(right.error());
  task_description d{.kind = kind_of(c)};
  if (d.kind == task_kind::alone) {
    d.master = c.session_master.value_or("");
    d.evaluation_master = c.eval_session_master.value_or("");
    return d;
  }
  d.is_chief = d.kind == task_kind::chief || d.kind == task_kind::master;
  d.trains = d.is_chief || d.kind == task_kind::worker;
  d.evaluates = d.kind == task_kind::master || d.kind == task_kind::evaluator;
  if (d.kind == task_kind::evaluator) {
    d.evaluation_master = c.eval_session_master.value_or("");
    d.num_worker_replicas = 0;
    d.global_id_in_cluster = std::nullopt;
    return d;
  }
  const auto tasks = tasks_of(c.jobs);
  d.cluster_spec = c.jobs;
  d.master = master_of(c, tasks.size(), config);
  d.num_worker_replicas = tasks_in(c.jobs, "worker") + 1;
  d.num_ps_replicas = tasks_in(c.jobs, "ps");
  d.global_id_in_cluster = std::find(tasks.begin(), tasks.end(), c.task) - tasks.begin();
  std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(d.peers),
               [&](const cluster_task& other) { return sees(c.task, other); });
  if (d.kind == task_kind::worker)
    d.start_delay_secs = start_delay_of(c.task.index, config);
  return d;
}

expected<std::optional<std::string>> server_address(const cluster& c, const run_config& config) {
  const auto missing = [](const std::string& what) {
    return fail(errc::state, "the process cannot start its server: " + what);
  };
  if (c.environment == "google" || (!c.jobs.empty() && c.task.type == "evaluator"))
    return std::nullopt;
  if (c.jobs.empty())
    return missing("there is no cluster");
  if (c.task.type.empty())
    return missing("task.type is missing");
  if (c.task.index < 0)
    return missing("task.index is missing");
  const auto d = describe_task(c, config);
  if (!d)
    return fail(d.error());
  if (d->master.empty() && d->trains && tasks_of(c.jobs).size() == 1)
    return std::nullopt;
  if (d->master.empty())
    return missing("session_master is '', but a cluster of several tasks needs a master");
  return c.jobs.at(c.task.type)[static_cast<size_t>(c.task.index)];
}

}  // namespace troupe
