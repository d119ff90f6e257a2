// The predictor: makes predictions for a consumer as the driver of its own `predict` sub-plan (infeed, replica,
// outfeed).
#pragma once

#include "actors/prediction_board.hpp"
#include "actors/sub_plan_wait.hpp"

namespace troupe {

struct predictor_options {
  std::string name = "predictor";
  driven_nodes nodes;
  std::shared_ptr<prediction_board> board;
  std::shared_ptr<file_system> files;
  std::string directory;  ///< Empty: variables are freshly initialised.
  checkpoint_choice which = {};
  std::shared_ptr<parameter_store> parameters;  ///< The predictor's own store; its replica is the only reader.
  uint64_t seed = 0;
  /// Initial values of variables if there is no checkpoint; may be null.
  std::shared_ptr<const start_values> start = {};
  std::chrono::milliseconds silence_max{600'000};  ///< Longest wait for a requested batch.
};

/// idle → running → gone. The horizon is the consumer's room: nothing happens before there is any, and no node reads or
/// computes past it. A slow consumer delays all nodes, without a deadline.
struct predictor_state {
  static inline const char* name = "predictor";
  predictor_actor::stateful_pointer<predictor_state> self = nullptr;
  predictor_options options;

  sub_plan nodes;
  int64_t until = 0;      ///< The consumer has room for every batch below this one.
  int64_t delivered = 0;  ///< Batches on the board.
  sub_plan_wait<predictor_actor::stateful_pointer<predictor_state>> waiting;

  void on_pull(const pull& x);
  void on_started(const started& x);
  void on_progress(const progress& x);
  void wait();  ///< Waits for the next batch, if one was requested.
  void finish(std::optional<error> cause);
};

predictor_actor::behavior_type predictor(predictor_actor::stateful_pointer<predictor_state> self,
                                         predictor_options options);

}  // namespace troupe
