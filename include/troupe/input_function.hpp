// Input functions: the data of a job as a function of the place where they are read.
// Not needed to begin with.
//
//   auto input = tr::from_input_function({.batch_size = 1024, .name = "clicks"}, [=](const tr::input_context& c) {
//     return clicks.shard(c.deployment.total, c.deployment.index).shuffle().batch(c.batch_size).repeat();
//   });
//
// A dataset describes all data of a job, and the inputs take turns with its batches. An input function describes the
// data of one input, which reads all of them: for data that each host has a part of.
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/model.hpp>

namespace troupe {

/// Where an input is read, and how many replicas it feeds.
struct deployment {
  int64_t host = 0;
  int64_t index = 0;  ///< In [0, total).
  int64_t total = 1;  ///< The number of inputs.
  int64_t replicas = 1;
  friend bool operator==(const deployment&, const deployment&) = default;
};

/// What an input function is called with.
struct input_context {
  int64_t batch_size = 1;  ///< Rows that the batches of this input must have, by the input mode (input_mode.hpp).
  troupe::deployment deployment = {};
  int64_t hosts = 1;
  int64_t replicas = 1;  ///< Of the job, or of the evaluation or prediction.
  troupe::mode mode = troupe::mode::train;
  friend bool operator==(const input_context&, const input_context&) = default;
};

struct input_function_options {
  int64_t batch_size = 1;  ///< Rows of a step over all replicas; of a batch in an evaluation or a prediction.
  /// Identifies the function in texts, errors and saved positions.
  std::string name = "input function";
};

/// Data that `make` describes: no further stage may follow. It is called by the thread that starts the job, once for
/// each input, in their order; by a search once more for each iteration. Batches of an evaluation or a prediction are
/// dealt to its replicas whole: there `make` is called once, for all. Only texts, `spec()` and counting epochs know
/// nothing of a job; there it is called for one input of one replica, or not at all.
///
/// Errors of the job, before it starts: invalid_argument: no function, fewer than 1 row, a name as of a generator; rows
/// that the replicas cannot share (as `describe_deployment`); batches of another size than `batch_size` of the context;
/// inputs whose components differ. Errors and exceptions of `make` name the function and the input.
///
/// A job resumes with the same context for each input: other hosts, replicas, input mode or rows are refused.
TROUPE_API dataset from_input_function(input_function_options options,
                                       std::function<expected<dataset>(const input_context&)> make);

}  // namespace troupe
