// The reducer: sums the gradients of one step when replicas reduce by message.
#pragma once

#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_engine.hpp"
#include "compute/engine/step_outcome.hpp"
#include "messages/interfaces.hpp"

namespace troupe {

struct reducer_options {
  node_id id{};
  std::string name = "reducer";
  std::shared_ptr<gradient_reduction> sums;  ///< For R replicas; owns all memory that a step needs.
};

/// Waits for all R parts of a step, adds them by the fixed tree, and sends the sum to all replicas, or the reason why
/// there is none. Of a retired group it joins the statuses and sends no sum. The memory of the sum is overwritten only
/// when every replica has sent its part of a later step, and so has applied this one.
struct reducer_state {
  static inline const char* name = "reducer";
  reducer_actor::stateful_pointer<reducer_state> self = nullptr;
  reducer_options options;
  activity spent;                       ///< See counted.hpp.
  std::vector<replica_actor> replicas;  ///< Replica r is the sender of part r.

  int32_t attempt = 0;
  int64_t step = -1;                   ///< The step being reduced.
  std::vector<gradient_part> parts;    ///< The parts that have arrived.
  std::vector<bool> here;              ///< Whether the part of each replica has arrived.
  std::vector<step_outcome> outcomes;  ///< What all parts say, while they are joined.
  std::vector<tensor> gradients;       ///< The gradients of all parts, while they are added.
  std::optional<gradient_sum> answer;  ///< The message sent for this step.
  std::vector<bool> done;              ///< Whether each replica has applied the step.

  void on_part(const gradient_part& x);
  void on_applied(const applied& x);
  void on_halt(const halt& x);

  void begin_step(const gradient_part& x);
  gradient_sum reduce();
  bool is_replica(int32_t index) const { return index >= 0 && index < options.sums->replicas(); }
};

reducer_actor::behavior_type reducer(reducer_actor::stateful_pointer<reducer_state> self, reducer_options options);

}  // namespace troupe
