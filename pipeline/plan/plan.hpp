// The plan: the actors of a job, the edges between them and the credit of each edge, as plain data that can be printed
// and compared. Launchers start exactly the actors that it lists.
//
//   infeed ══ edge, split ══► replica/0   (group 0)          infeed ══ edge, broadcast ══► a/replica/0 ══ logits ══► mixture/replica/0
//                       ══► replica/1   (group 0)                                    ══► b/replica/0 ══ logits ══►
#pragma once

#include "words/group_policy.hpp"

#include <troupe/error.hpp>
#include <troupe/model.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// How the rows of a batch are divided among the readers that an infeed has in one group.
enum class divide : uint8_t {
  split,      ///< The rows are divided evenly, in the order of the edges.
  each,       ///< Each reader gets a separate batch; consecutive batches go in the order of the edges.
  broadcast,  ///< Each reader gets all rows.
};
std::string_view to_string(divide d) noexcept;

/// The out-port of an infeed, and the in-port of a replica that it feeds.
inline constexpr std::string_view data_port = "data";

struct plan_node {
  node_id id{};
  role what = role::infeed;
  std::string name;               ///< "replica/0", for messages.
  node_id driver = no_node;       ///< The chief, evaluator or predictor that it reports to; no_node: the launcher.
  group_id group{};               ///< The group of a replica or reducer.
  /// Number among the nodes of its role and driver, for a replica also of its group; an infeed has the number of its host,
  /// by which its position is stored.
  int32_t index = 0;
  std::optional<size_t> program;  ///< For a replica: an index of `job_plan::programs`.
  std::optional<size_t> dataset;  ///< For an infeed: an index of `job_plan::datasets`.
  /// A port of a replica other than `data_port` carries one output of a program.
  std::vector<std::string> in_ports = {}, out_ports = {};
  friend bool operator==(const plan_node&, const plan_node&) = default;
};

struct plan_edge {
  edge_id id{};
  node_id from{};
  std::string out{data_port};
  node_id to{};
  std::string in{data_port};
  divide how = divide::split;
  int64_t credit_blocks = 3;                  ///< Limit on blocks in flight or held by the reader.
  int64_t credit_bytes = int64_t{2} << 20;    ///< Limit on the bytes of a block of more than one batch.
  friend bool operator==(const plan_edge&, const plan_edge&) = default;
};

/// A model in one mode. The model and dataset objects are kept beside the plan (plan_resources), in the same order.
struct plan_program {
  std::string model;
  troupe::mode mode = mode::train;
  group_id group{};
  friend bool operator==(const plan_program&, const plan_program&) = default;
};
struct plan_dataset {
  std::string text;
  troupe::mode mode = mode::train;            ///< In training a last, smaller batch is dropped unless the dataset says otherwise.
  friend bool operator==(const plan_dataset&, const plan_dataset&) = default;
};
struct plan_group {
  group_id id{};
  std::string name;                           ///< Empty in a job with one group.
  group_failure on_failure = group_failure::fail;
  std::optional<int64_t> retires_at = {};     ///< From this state on it shows its outputs and applies nothing.
  friend bool operator==(const plan_group&, const plan_group&) = default;
};

struct job_plan {
  std::vector<plan_group> groups;             ///< The groups that the job trains.
  std::vector<plan_program> programs;
  std::vector<plan_dataset> datasets;
  std::vector<plan_node> nodes;
  std::vector<plan_edge> edges;
  std::vector<node_id> snapshot_parts;        ///< The nodes that each contribute one part to a snapshot; none: nothing is saved.
  friend bool operator==(const job_plan&, const job_plan&) = default;

  /// These return null if there is none.
  const plan_node* find(node_id id) const;
  const plan_node* find(role what, node_id driver) const;
  const plan_group* find(group_id id) const;
  /// The plan has the node.
  const plan_node& at(node_id id) const { return *find(id); }
  std::vector<const plan_node*> all(role what, node_id driver) const;
  std::vector<const plan_edge*> edges_from(node_id id) const;
  std::vector<const plan_edge*> edges_to(node_id id) const;
  /// The replicas of a program, by index; they differ only in their edges.
  std::vector<const plan_node*> replicas_of(size_t program) const;
};

/// The program or dataset of a node as text, "dnn (evaluate)"; empty for other nodes.
std::string work_of(const job_plan& p, const plan_node& n);
/// One line for each node and edge, and one for the snapshot parts.
std::string to_text(const job_plan& p);

/// invalid_argument naming the node or the edge: a repeated id, an edge to or from a node that is missing, a node whose
/// driver is no driver, a port that two edges fill or that no edge fills or reads, an edge without credit, a cycle, a
/// snapshot part that no node makes, a program or a dataset that is missing.
expected<void> check(const job_plan& p);

/// An evaluation in a plan: its name, which may be empty, and its dataset as text.
struct plan_evaluation {
  std::string name, dataset;
};

/// The options of a plan for a job of one model.
struct plan_options {
  int32_t hosts = 1;                          ///< Each has one infeed; replicas are spread over them evenly.
  int32_t replicas = 1;
  bool checkpoints = true;
  bool summaries = false;
  bool eval_summaries = false;
  bool hooks = false;
  std::string program;
  std::optional<std::string> dataset = {};         ///< For a job that trains.
  std::vector<plan_evaluation> evaluations = {};   ///< For a job that evaluates, beside training or alone.
  std::optional<std::string> predict_dataset = {};
};
/// invalid_argument if replicas cannot be spread over the hosts evenly.
expected<job_plan> make_plan(const plan_options& options);

}  // namespace troupe
