// The plan: which actors exist, what flows between them and how much each may hold, as plain data. Printable, comparable; launchers
// walk it and start what it lists, and nothing else.
//
//   infeed ══ edge, split ══► replica/0   (group 0)          infeed ══ edge, broadcast ══► a/replica/0 ══ logits ══► mixture/replica/0
//                       ══► replica/1   (group 0)                                    ══► b/replica/0 ══ logits ══►
#pragma once

#include "words/roles.hpp"

#include <troupe/error.hpp>
#include <troupe/model.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// How the rows of a batch are divided among the readers that an infeed has in one group.
enum class divide : uint8_t {
  split,      ///< Evenly along the rows, in the order of the edges.
  each,       ///< To each reader a batch of its own, one after the other in the order of the edges.
  broadcast,  ///< All of them to each.
};
std::string_view to_string(divide d) noexcept;

/// Of an infeed, and of a replica that it feeds.
inline constexpr std::string_view data_port = "data";

struct plan_node {
  node_id id{};
  role what = role::infeed;
  std::string name;               ///< "replica/0": for people.
  node_id driver = no_node;       ///< The chief, evaluator or predictor that it reports to; no_node: the launcher.
  group_id group{};               ///< Of a replica, a reducer.
  int32_t index = 0;              ///< Among those of its role, driver and, of replicas, group; of an infeed the host's number, by which its position is stored.
  std::optional<size_t> program;  ///< Of a replica: of `job_plan::programs`.
  std::optional<size_t> dataset;  ///< Of an infeed: of `job_plan::datasets`.
  std::vector<std::string> in_ports = {}, out_ports = {};  ///< A port of a replica that is no `data_port` carries one output of a program.
  friend bool operator==(const plan_node&, const plan_node&) = default;
};

struct plan_edge {
  edge_id id{};
  node_id from{};
  std::string out{data_port};
  node_id to{};
  std::string in{data_port};
  divide how = divide::split;
  int64_t credit_blocks = 3;                  ///< In flight or held by the reader.
  int64_t credit_bytes = int64_t{2} << 20;    ///< Of one block, or one batch.
  friend bool operator==(const plan_edge&, const plan_edge&) = default;
};

/// A model in one mode; the model and the dataset themselves stand beside the plan (plan_resources), in the same order.
struct plan_program {
  std::string model;
  troupe::mode mode = mode::train;
  group_id group{};
  friend bool operator==(const plan_program&, const plan_program&) = default;
};
struct plan_dataset {
  std::string text;
  troupe::mode mode = mode::train;            ///< Training drops a remainder unless the dataset says.
  friend bool operator==(const plan_dataset&, const plan_dataset&) = default;
};
struct plan_group {
  group_id id{};
  std::string name;                           ///< Empty where there is one.
  friend bool operator==(const plan_group&, const plan_group&) = default;
};

struct job_plan {
  std::vector<plan_group> groups;             ///< That are trained.
  std::vector<plan_program> programs;
  std::vector<plan_dataset> datasets;
  std::vector<plan_node> nodes;
  std::vector<plan_edge> edges;
  std::vector<node_id> snapshot_parts;        ///< A snapshot is a set of exactly these; none: nothing is saved.
  friend bool operator==(const job_plan&, const job_plan&) = default;

  /// Null where there is none.
  const plan_node* find(node_id id) const;
  const plan_node* find(role what, node_id driver) const;
  const plan_group* find(group_id id) const;
  /// Of a node that is there.
  const plan_node& at(node_id id) const { return *find(id); }
  std::vector<const plan_node*> all(role what, node_id driver) const;
  std::vector<const plan_edge*> edges_from(node_id id) const;
  std::vector<const plan_edge*> edges_to(node_id id) const;
  /// Of a program, in order: all alike, but for their edges.
  std::vector<const plan_node*> replicas_of(size_t program) const;
};

/// Its program or dataset, in words: "dnn (evaluate)"; empty for other nodes.
std::string work_of(const job_plan& p, const plan_node& n);
/// One line a node, an edge and the list of snapshot parts.
std::string to_text(const job_plan& p);

/// invalid_argument naming the node or the edge: an id twice, an edge to or from nobody, a node whose driver is none, a port that two
/// edges fill or that nobody fills or reads, an edge without credit, a cycle, a snapshot part that no node makes, a program or a
/// dataset that is not there.
expected<void> check(const job_plan& p);

/// What the plan of one model's job depends on.
struct plan_options {
  int32_t hosts = 1;                          ///< One infeed each; replicas are spread over them evenly.
  int32_t replicas = 1;
  bool checkpoints = true;
  bool summaries = false;
  bool eval_summaries = false;
  bool hooks = false;
  std::string program;
  std::optional<std::string> dataset = {};         ///< Of a job that trains.
  std::optional<std::string> eval_dataset = {};    ///< Of one that evaluates, beside its training or alone.
  std::optional<std::string> predict_dataset = {};
};
/// invalid_argument when replicas cannot be spread over the hosts evenly.
expected<job_plan> make_plan(const plan_options& options);

}  // namespace troupe
