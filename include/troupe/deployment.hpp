// How a job is laid out on hosts of several cores: where each replica is, what it reads, in batches of which size.
// Not needed to begin with.
//
//   auto layout = tr::describe_deployment({.hosts = 8, .cores_per_host = 8, .input_mode = tr::input_mode::per_replica,
//                                          .train_batch = 1024});
//   if (layout) std::cout << tr::to_text(*layout);
//
// It is only computed: jobs do not run on several hosts yet. Descriptions are plain values. Any thread may call.
#pragma once

#include <troupe/error.hpp>
#include <troupe/input_mode.hpp>
#include <troupe/model.hpp>

namespace troupe {

struct deployment_options {
  int64_t hosts = 1;           ///< Together with `cores_per_host` at most 65,536 cores.
  int64_t cores_per_host = 1;  ///< Each core has one replica.
  /// How many replicas there have to be. 1 takes one core of one host, whatever there is. Absent: one on each core.
  std::optional<int64_t> replicas = {};
  troupe::input_mode input_mode = troupe::input_mode::per_host;
  /// Rows of one step, over all replicas. A mode without a number is refused.
  std::optional<int64_t> train_batch = {}, eval_batch = {}, predict_batch = {};
};

struct deployment_description {
  struct input {
    int64_t host = 0;      ///< The host that reads it.
    int64_t replicas = 0;  ///< How many replicas it feeds.
  };
  /// The rows that a replica gets in each step.
  struct feed {
    int64_t input = 0;      ///< An index of `inputs`.
    int64_t batch = 0;      ///< Which of the batches that this input reads for a step.
    int64_t first_row = 0;  ///< Rows [first_row, first_row + rows) of that batch.
    int64_t rows = 0;
    friend bool operator==(const feed&, const feed&) = default;
  };
  struct mode_layout {
    troupe::mode mode = troupe::mode::train;
    std::optional<error> refused = {};  ///< Why the mode cannot be run like this; the fields below are then empty.
    int64_t batch = 0;                  ///< Rows of one step.
    int64_t input_rows = 0;             ///< Rows of each batch that an input reads.
    int64_t batches_per_step = 0;       ///< How many batches each input reads for a step.
    std::vector<input> inputs = {};
    std::vector<feed> feeds = {};  ///< By replica.
    std::vector<std::string> warnings = {};
  };
  struct core {
    int64_t host = 0;
    int64_t ordinal = 0;  ///< Its index on its host.
    int64_t replica = 0;
  };
  int64_t hosts = 0;
  int64_t cores_per_host = 0;
  int64_t replicas = 0;
  troupe::input_mode input_mode = troupe::input_mode::per_host;
  std::vector<core> cores;         ///< By host and ordinal.
  std::vector<mode_layout> modes;  ///< Train, evaluate, predict.
  std::vector<std::string> warnings;
};

/// invalid_argument and state, naming the field and its value: there cannot be such replicas, or training cannot divide
/// its batch among them. Evaluation and prediction may be refused by themselves (`mode_layout::refused`).
TROUPE_API expected<deployment_description> describe_deployment(const deployment_options& options);

/// Text for people. Its form may change.
TROUPE_API std::string to_text(const deployment_description& r);
/// One JSON object.
TROUPE_API std::string to_json(const deployment_description& r);

}  // namespace troupe
