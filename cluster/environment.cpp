// Reads TF_CONFIG.
#include "words/json_text.hpp"
#include "words/text.hpp"

#include <troupe/cluster.hpp>

#include <charconv>
#include <cstdlib>

namespace troupe {

namespace {

using json_text::entry;
using json_text::wrong;

constexpr const char* variable = "TF_CONFIG";

std::string listed(const std::vector<std::string>& addresses) { return "[" + joined(addresses) + "]"; }

/// Long lists are only counted.
std::string text_of_job(const std::string& name, const std::vector<std::string>& addresses) {
  constexpr size_t most = 8;
  return name + ": " + (addresses.size() > most ? std::to_string(addresses.size()) + " addresses" : listed(addresses));
}

std::string text_of_jobs(const cluster_jobs& jobs) {
  return "{" + joined(jobs, ", ", [](const auto& job) { return text_of_job(job.first, job.second); }) + "}";
}

/// The rules for the jobs alone.
expected<void> check_jobs(const cluster_jobs& jobs) {
  const auto chief = jobs.find("chief"), master = jobs.find("master");
  if (chief == jobs.end() && master == jobs.end())
    return fail(errc::invalid_argument, "cluster must have a chief, not only " + text_of_jobs(jobs));
  if (chief != jobs.end() && master != jobs.end())
    return fail(errc::invalid_argument,
                "cluster must have either a chief or a master, not both: " + text_of_jobs(jobs));
  const auto& [name, addresses] = chief != jobs.end() ? *chief : *master;
  if (addresses.size() != 1)
    return fail(errc::invalid_argument,
                "cluster." + name + " must be a list of exactly one address, not " + listed(addresses));
  return {};
}

expected<void> check_task_alone(const cluster_task& task) {
  if (task.type != "worker")
    return fail(errc::invalid_argument,
                "task.type must be worker in a process without a cluster, not " + troupe::quoted(task.type));
  if (task.index != 0)
    return fail(errc::invalid_argument,
                "task.index must be 0 in a process without a cluster, not " + std::to_string(task.index));
  return {};
}

expected<void> check_task(const cluster_task& task, const cluster_jobs& jobs) {
  if (task.type.empty())
    return fail(errc::invalid_argument, "task.type must name the job of this process in the cluster, not ''");
  if (task.index < 0)
    return fail(errc::invalid_argument, "task.index must be at least 0, not " + std::to_string(task.index));
  if (task.type == "evaluator") {
    if (jobs.contains("master"))
      return fail(errc::invalid_argument,
                  "task.type cannot be evaluator in a cluster with a master, which evaluates itself");
    return {};
  }
  const auto job = jobs.find(task.type);
  if (job == jobs.end())
    return fail(errc::invalid_argument, "task.type must be evaluator or a job of the cluster, not "
                                            + troupe::quoted(task.type) + ": the cluster is " + text_of_jobs(jobs));
  if (task.index >= static_cast<int64_t>(job->second.size()))
    return fail(errc::invalid_argument, "task.index must be below " + std::to_string(job->second.size())
                                            + ", the number of addresses of cluster." + task.type + ", not "
                                            + std::to_string(task.index));
  return {};
}

// -- JSON ------------------------------------------------------------------------

std::optional<std::string> text_at(const entry& e, std::string_view key) {
  return e.has(key) ? std::optional{e.at(key).text()} : std::nullopt;
}

cluster_jobs jobs_in(const entry& e) {
  cluster_jobs jobs;
  for (const auto& [name, job] : e.members())
    for (auto& addresses = jobs[name]; const auto& address : job.elements()) {
      addresses.push_back(address.text());
      if (addresses.back().empty())
        address.refuse("the address of a task, as \"host:port\"");
    }
  return jobs;
}

/// A whole number, or a text of one.
int64_t index_in(const entry& e) {
  if (!e.value().is_string())
    return e.integer();
  const auto text = e.text();
  int64_t index = 0;
  const auto* end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, index); read.ec != std::errc{} || read.ptr != end)
    e.refuse("a whole number of 64 bits");
  return index;
}

/// The JSON text of any object. Throws `wrong` with the category `type` for another value.
std::string service_in(const entry& e) {
  if (e.value().is_object())
    return json_text::text_of(e.value());
  try {
    e.refuse("an object");
  } catch (wrong& refused) {
    refused.category = errc::type;
    throw;
  }
}

expected<cluster> cluster_in(const entry& e) {
  static_cast<void>(e.members());  // Refuses what is no object.
  cluster c;
  c.model_dir = text_at(e, "model_dir");
  c.session_master = text_at(e, "session_master");
  c.eval_session_master = text_at(e, "eval_session_master");
  c.environment = text_at(e, "environment");
  if (e.has("service"))
    c.service = service_in(e.at("service"));
  if (e.has("cluster"))
    c.jobs = jobs_in(e.at("cluster"));
  bool has_type = false, has_index = false;
  if (e.has("task")) {
    const auto task = e.at("task");
    static_cast<void>(task.members());
    has_type = task.has("type");
    has_index = task.has("index");
    if (has_type)
      c.task.type = task.at("type").text();
    if (has_index)
      c.task.index = index_in(task.at("index"));
  }
  if (!c.jobs.empty()) {
    if (auto right = check_jobs(c.jobs); !right)
      return fail(right.error());
    if (!has_type)
      return fail(errc::invalid_argument, "task.type is missing: it names the job of this process in the cluster");
    if (!has_index && !c.task.type.empty())
      return fail(errc::invalid_argument,
                  "task.index is missing: it is the place of this process in the list cluster." + c.task.type);
  }
  if (auto right = validate(c); !right)
    return fail(right.error());
  return c;
}

}  // namespace

expected<void> validate(const cluster& c) {
  if (c.model_dir && c.model_dir->empty())
    return fail(errc::invalid_argument, "model_dir must not be ''");
  if (c.jobs.empty())
    return check_task_alone(c.task);
  return check_jobs(c.jobs).and_then([&] { return check_task(c.task, c.jobs); });
}

expected<cluster> parse_cluster(std::string_view text) {
  auto read = json_text::read(text.empty() ? "{}" : text, variable, [](const entry& e) { return cluster_in(e); });
  if (!read)  // What is damage in a file is an invalid argument here.
    return fail(read.error().category == errc::data_loss ? errc::invalid_argument : read.error().category,
                read.error().message);
  if (!*read)
    return fail(read->error().category, std::string{variable} + ": " + read->error().message);
  return std::move(**read);
}

expected<cluster> cluster_of_process() {
  const char* text = std::getenv(variable);
  return parse_cluster(text ? text : "");
}

}  // namespace troupe
