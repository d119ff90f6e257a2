// The plan: which actors exist and how much each may hold, as plain data. Printable, comparable; launchers turn it into
// actors.
#pragma once

#include <troupe/error.hpp>

#include <compare>

namespace troupe {

enum class role : uint8_t { infeed, replica, reducer, outfeed, checkpoint_writer, summary_writer, evaluator, callbacks, chief };
std::string_view to_string(role r) noexcept;

/// How the rows of a batch are divided among the readers of an infeed.
enum class divide : uint8_t {
  split,      ///< Evenly, in order.
  broadcast,  ///< All of them to each.
};
std::string_view to_string(divide d) noexcept;

struct plan_node {
  std::string name;   ///< "replica/0"; those of an evaluation's sub-plan begin with "evaluator/".
  role what = role::infeed;
  std::string work;   ///< Its program or dataset, in words.
  friend bool operator==(const plan_node&, const plan_node&) = default;
};

struct plan_edge {
  int32_t id = 0;
  std::string from;
  std::string to;
  divide how = divide::split;
  int64_t credit_blocks = 3;  ///< Blocks in flight or held by the reader.
  friend bool operator==(const plan_edge&, const plan_edge&) = default;
};

struct job_plan {
  std::vector<plan_node> nodes;
  std::vector<plan_edge> edges;
  std::vector<std::string> snapshot_parts;  ///< A snapshot is a set of exactly these.
  friend bool operator==(const job_plan&, const job_plan&) = default;
};

/// One line a node, an edge and the list of snapshot parts.
std::string to_text(const job_plan& p);

/// What a training plan depends on.
struct plan_options {
  int32_t hosts = 1;      ///< One infeed each; replicas are spread over them evenly.
  int32_t replicas = 1;
  bool checkpoints = true;
  bool summaries = false;
  bool eval_summaries = false;
  bool evaluates = false;
  bool hooks = false;
  std::string program;
  std::string dataset;
  std::string eval_dataset;
};
/// invalid_argument when replicas cannot be spread over the hosts evenly.
expected<job_plan> make_training_plan(const plan_options& options);

}  // namespace troupe
