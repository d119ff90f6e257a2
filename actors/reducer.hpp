// The reducer: one step's partial sums, when replicas reduce by message.
#pragma once

#include "compute/step_engine.hpp"
#include "messages/interfaces.hpp"

namespace troupe {

struct reducer_options {
  int32_t replicas = 2;
  std::shared_ptr<const parameter_layout> layout;
};

/// Waits for all R parts of a step, adds them by the fixed tree, and tells all replicas the sum, or why there is none.
struct reducer_state {
  static inline const char* name = "reducer";
  reducer_actor::stateful_pointer<reducer_state> self = nullptr;
  reducer_options options;
  std::vector<replica_actor> replicas;  ///< Learnt from whoever sends part r.

  int32_t attempt = 0;
  int64_t step = -1;                    ///< The step being reduced.
  std::vector<std::optional<gradient_part>> parts;
  std::vector<bool> done;

  void on_part(const gradient_part& x);
  void on_applied(const applied& x);
};

reducer_actor::behavior_type reducer(reducer_actor::stateful_pointer<reducer_state> self, reducer_options options);

}  // namespace troupe
