// The plan: the actors of a job, the edges between them and the credit of each edge, as plain data that can be printed
// and compared. Launchers start exactly the actors that it lists.
//
//   infeed ══ edge, split ══► replica/0   (group 0)
//                         ══► replica/1   (group 0)
//
//   infeed ══ edge, broadcast ══► a/replica/0 ══ logits ══► mixture/replica/0
//                             ══► b/replica/0 ══ logits ══►
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

/// How an infeed divides the rows of a batch among its readers in one group.
enum class divide : uint8_t {
  split,      ///< The rows are divided evenly, in the order of the edges.
  each,       ///< Each reader gets a separate batch; the readers take turns in the order of the edges.
  broadcast,  ///< Each reader gets all rows.
};
std::string_view to_string(divide d) noexcept;

/// The out-port of an infeed, and the in-port of a replica that it feeds. Through another port of an infeed come the
/// components "<port>/<name>".
inline constexpr std::string_view data_port = "data";

/// Whose data an infeed reads. Their position is stored under the infeed's name. They may not end before the group
/// retires, and it reads no more of them from there on; a stop is not sent to their infeed.
struct own_data_of {
  group_id group{};
  std::string who;  ///< "the builder 'dnn'", for messages.
  friend bool operator==(const own_data_of&, const own_data_of&) = default;
};

struct plan_node {
  node_id id{};
  role what = role::infeed;
  std::string name;          ///< "replica/0", for messages.
  node_id driver = no_node;  ///< The chief, evaluator or predictor that it reports to; no_node: the launcher.
  group_id group{};          ///< The group of a replica or reducer.
  /// Index among the nodes of the same role and driver, for a replica also of the same group. For an infeed: the number
  /// of its host, under which its position is stored.
  int32_t index = 0;
  std::optional<size_t> program;  ///< For a replica: an index of `job_plan::programs`.
  std::optional<size_t> dataset;  ///< For an infeed: an index of `job_plan::datasets`.
  /// Ports of data edges. A replica's out-port carries one output of a program.
  std::vector<std::string> in_ports = {}, out_ports = {};
  /// For an infeed of data that one group alone trains on.
  std::optional<own_data_of> own = {};
  /// For a chief and the infeeds that it drives, but for those of one group. True: a stop is sent to the infeeds, and
  /// all groups end at the step that the infeeds have reached. False: it is sent to the replicas, which end at the step
  /// at hand.
  bool stops_at_infeeds = false;
  int32_t place = 0;  ///< Nodes of different places share no memory.
  friend bool operator==(const plan_node&, const plan_node&) = default;
};

struct plan_edge {
  edge_id id{};
  node_id from{};
  /// `out`, `in` and `how` belong to data edges; other kinds leave them empty and unused.
  std::string out{data_port};
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
  bool host_calls = false;  ///< Its steps may have tensors for host calls.
  friend bool operator==(const plan_program&, const plan_program&) = default;
};
struct plan_dataset {
  std::string text;
  /// In training, a smaller last batch is dropped unless the dataset says otherwise.
  troupe::mode mode = mode::train;
  friend bool operator==(const plan_dataset&, const plan_dataset&) = default;
};
/// Use a `checked_plan` to look up nodes and edges.
struct job_plan {
  std::vector<plan_group> groups;  ///< The groups that the job trains.
  /// All groups, in the order in which their values are shown. Where one number is wanted, such as the loss on a
  /// terminal, it is that of the first group that has not left.
  std::vector<group_id> shown = {};
  std::vector<plan_program> programs;
  std::vector<plan_dataset> datasets;
  std::vector<plan_node> nodes;
  std::vector<plan_edge> edges;
  plan_iteration iteration = {};  ///< For a job that grows from one plan into the next while it runs.
  friend bool operator==(const job_plan&, const job_plan&) = default;
};

/// Adds all edges but those of data: for each row of the table, between nodes of its roles that have the same driver
/// and, where the row says so, the same group. `saves`: also the edges for parts of snapshots. Only replicas whose
/// programs have host calls get edges of calls.
void add_service_edges(job_plan& p, bool saves);

/// The program or dataset of a node as text, "dnn (evaluate)"; empty for other nodes.
std::string work_of(const job_plan& p, const plan_node& n);
/// One line for each node, edge and policy of a group, and one for the parts of a snapshot.
std::string to_text(const job_plan& p);

}  // namespace troupe
