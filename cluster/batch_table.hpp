// What the inputs of a job read in a step, and which rows of it each replica gets, for every mode and input mode. Pure
// functions of the topology.
//
//   const input_request training{.input_mode = input_mode::per_replica, .batch = 1024};
//   auto s = sizes(*t, training);        // 8 inputs, each reads 8 batches of 16 rows; a replica computes 16
//   auto f = feed_of(*t, training, 9);   // replica 9 gets batch 1 of input 1
#pragma once

#include "cluster/topology.hpp"

#include <troupe/deployment.hpp>
#include <troupe/input_function.hpp>

namespace troupe {

struct input_request {
  troupe::mode mode = troupe::mode::train;
  troupe::input_mode input_mode = troupe::input_mode::per_host;
  std::optional<int64_t> batch = {};  ///< Rows of a step, over all replicas.
  /// False: one core of host 0 computes batches as they are read, so that `batch` may be absent.
  bool on_replicas = true;
};

/// invalid_argument: the batch is absent, not positive or cannot be divided evenly; an input mode that does not suit
/// the mode or the topology. The message names the mode, the value and what would be right.
expected<void> validate(const topology& t, const input_request& r);
/// What is allowed, but may not be what was meant. `r` must be valid.
std::vector<std::string> warnings_of(const topology& t, const input_request& r);

/// All inputs, by index. `r` must be valid.
std::vector<deployment> deployments(const topology& t, const input_request& r);

struct batch_sizes {
  int64_t inputs = 1;                        ///< How many inputs are opened.
  std::optional<int64_t> input_rows = {};    ///< Rows of each batch that an input reads; absent: as the data have it.
  int64_t batches_per_step = 1;              ///< How many batches each input reads for a step.
  std::optional<int64_t> replica_rows = {};  ///< Rows that a replica computes in a step; absent: as the data have it.
  friend bool operator==(const batch_sizes&, const batch_sizes&) = default;
};
/// Errors as `validate`.
expected<batch_sizes> sizes(const topology& t, const input_request& r);

/// Examples per second at a number of steps per second: the rows that all inputs read. Absent if the rows of a batch
/// are not known. No job shows it yet.
std::optional<double> examples_per_sec(const batch_sizes& s, double steps_per_sec) noexcept;

/// The rows that a replica gets in each step.
struct feed {
  int64_t input = 0;      ///< Index of a deployment.
  int64_t batch = 0;      ///< Which of the batches that this input reads for a step.
  int64_t first_row = 0;  ///< Rows [first_row, first_row + rows) of that batch.
  int64_t rows = 0;
  friend bool operator==(const feed&, const feed&) = default;
};
/// `r` must be valid, with a batch and on replicas; `replica` in [0, t.replicas).
feed feed_of(const topology& t, const input_request& r, int64_t replica);

}  // namespace troupe
