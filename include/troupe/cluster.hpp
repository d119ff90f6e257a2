// The cluster of processes that a process belongs to, as the environment variable TF_CONFIG describes it, and what
// follows for the process.
// Not needed to begin with.
//
//   auto here = tr::cluster_of_process();  // A process without TF_CONFIG works alone.
//   auto e = here.and_then([&](const tr::cluster& c) { return tr::with_cluster(estimator, c); });
//
// Plain values with TensorFlow's names. A process is a task: it has a job, such as "worker", and an index in it. These
// functions are pure, except for the two that read the environment and a file. Any thread may call.
#pragma once

#include <troupe/run_config.hpp>

#include <map>

namespace troupe {

/// A process of a cluster by its job and its index there.
struct cluster_task {
  std::string type = "worker";
  int64_t index = 0;  ///< From 0.

  friend bool operator==(const cluster_task&, const cluster_task&) = default;
};

/// The addresses of a cluster, "host:port", by job: the task with index i of a job has the i-th address.
using cluster_jobs = std::map<std::string, std::vector<std::string>>;

/// The processes that train together, and which of them this is. By default a process that works alone.
struct cluster {
  cluster_jobs jobs = {};  ///< Without evaluators, as a rule. Empty: the process works alone.
  cluster_task task = {};
  std::optional<std::string> model_dir = {};            ///< For `with_cluster`.
  std::optional<std::string> session_master = {};       ///< In place of the computed `task_description::master`.
  std::optional<std::string> eval_session_master = {};  ///< The `evaluation_master` of a process that evaluates.
  std::optional<std::string> environment = {};          ///< "google": processes start no servers.
  std::optional<std::string> service = {};              ///< A JSON object of any content, as text.

  friend bool operator==(const cluster&, const cluster&) = default;
};

/// Reads the content of TF_CONFIG. An empty text is "{}": a process that works alone. Unknown keys are ignored; an
/// index may be a text of digits. invalid_argument, naming the key, its value and what would be right: no JSON, a value
/// of another kind, all that `validate` refuses. type: `service` is no object.
TROUPE_API expected<cluster> parse_cluster(std::string_view text);
/// The cluster of this process, by TF_CONFIG; nothing else in the library reads that variable. No other thread may
/// change the environment meanwhile.
TROUPE_API expected<cluster> cluster_of_process();
/// Reads a file that contains what TF_CONFIG would. not_found; unavailable; errors of `parse_cluster`; invalid_argument
/// for an empty file, which may be a damaged one.
TROUPE_API expected<cluster> read_cluster(const std::string& path);

/// invalid_argument, naming the key: a cluster without exactly one chief, or one master; with both; a task that is not
/// in it. An evaluator need not be, except that a cluster with a master has none. Without a cluster only worker 0 is
/// right. Also an empty model_dir.
TROUPE_API expected<void> validate(const cluster& c);

enum class task_kind : uint8_t {
  alone,             ///< There is no cluster: it trains and evaluates.
  chief,             ///< Trains, saves and writes summaries.
  master,            ///< A chief that also evaluates.
  worker,            ///< Trains.
  parameter_server,  ///< The type "ps": keeps variables.
  evaluator,         ///< Evaluates the checkpoints of the others.
  other,             ///< A type that TensorFlow does not know.
};
/// The type of such tasks: "ps". "alone" and "other" have none.
TROUPE_API std::string_view to_string(task_kind k) noexcept;

/// What follows from a cluster for its task: the derived properties of TensorFlow's RunConfig.
struct task_description {
  task_kind kind = task_kind::alone;
  bool is_chief = true;            ///< Saves checkpoints and writes summaries. Also true for a master and alone.
  bool trains = true;              ///< Reads the training data.
  bool evaluates = true;           ///< Reads the data of evaluations.
  cluster_jobs cluster_spec = {};  ///< Empty for an evaluator and alone.
  /// "grpc://host:port", the task's own address, where `protocol` of the run configuration is the label in front; empty
  /// if the cluster has a single task, for an evaluator, and alone. `session_master` replaces it.
  std::string master = {};
  std::string evaluation_master = {};
  int64_t num_worker_replicas = 1;  ///< Workers, and the chief or master. 0 for an evaluator.
  int64_t num_ps_replicas = 0;
  /// A number in the whole cluster: the chief or master has 0; tasks of other jobs follow by the name of the job and
  /// the index, and parameter servers are last. Absent for an evaluator.
  std::optional<int64_t> global_id_in_cluster = 0;
  /// The tasks that this one has to reach, by global id. A worker does without the other workers, so that it can begin
  /// while they are down.
  std::vector<cluster_task> peers = {};
  /// Seconds that a worker waits before it begins, so that variables exist when it does: 5 for each worker up to
  /// itself, at most `max_worker_delay_secs` of the run configuration, or 60.
  double start_delay_secs = 0;

  friend bool operator==(const task_description&, const task_description&) = default;
};
/// invalid_argument: all that `validate` refuses of either.
TROUPE_API expected<task_description> describe_task(const cluster& c, const run_config& config = {});

/// The address at which the task listens. Nothing where it needs no server: in a "google" environment, for an
/// evaluator, and for a cluster of a single task that trains without a master. state: the cluster, the task's type or
/// index, or the master is missing.
TROUPE_API expected<std::optional<std::string>> server_address(const cluster& c, const run_config& config = {});

}  // namespace troupe
