// The plan: the actors of a job, the edges between them and the credit of each edge, as plain data that can be printed
// and compared. Launchers start exactly the actors that it lists.
//
//   infeed ══ edge, split ══► replica/0   (group 0)          infeed ══ edge, broadcast ══► a/replica/0 ══ logits ══► mixture/replica/0
//                       ══► replica/1   (group 0)                                    ══► b/replica/0 ══ logits ══►
#pragma once

#include "plan/edge_kinds.hpp"
#include "plan/plan_group.hpp"
#include "words/plan_iteration.hpp"

#include <troupe/error.hpp>
#include <troupe/model.hpp>
#include <troupe/run_config.hpp>

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
  /// Ports of data. One of a replica other than `data_port` carries one output of a program.
  std::vector<std::string> in_ports = {}, out_ports = {};
  /// For a chief and the infeeds that it drives: a stop is said to the infeeds, and all groups end at the step where these stand. Otherwise it is
  /// said to the replicas, which end at the step at hand.
  bool stops_at_infeeds = false;
  int32_t place = 0;              ///< Nodes of different places share no memory.
  friend bool operator==(const plan_node&, const plan_node&) = default;
};

struct plan_edge {
  edge_id id{};
  node_id from{};
  std::string out{data_port};                 ///< Ports and division are those of data; empty and of no meaning for other kinds.
  node_id to{};
  std::string in{data_port};
  divide how = divide::split;
  edge_kind kind = edge_kind::data;
  edge_credit credit = row_of(edge_kind::data).credit;
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
/// Whoever looks for nodes and edges does so in a `checked_plan`.
struct job_plan {
  std::vector<plan_group> groups;             ///< The groups that the job trains.
  /// All of them, in the order of their values; the first that has not left gives the number where one number is wanted, as the loss on a terminal.
  std::vector<group_id> shown = {};
  std::vector<plan_program> programs;
  std::vector<plan_dataset> datasets;
  std::vector<plan_node> nodes;
  std::vector<plan_edge> edges;
  plan_iteration iteration = {};              ///< Of a job that grows from one plan into the next while it runs.
  friend bool operator==(const job_plan&, const job_plan&) = default;
};

/// Adds the edges of all kinds but data that its nodes have: those between roles of a row of the table, of one driver and, where the row says so,
/// of one group. `saves`: also those of the parts of a snapshot.
void add_service_edges(job_plan& p, bool saves);

/// The program or dataset of a node as text, "dnn (evaluate)"; empty for other nodes.
std::string work_of(const job_plan& p, const plan_node& n);
/// One line for each node, edge and policy of a group, and one for the parts of a snapshot.
std::string to_text(const job_plan& p);

}  // namespace troupe
