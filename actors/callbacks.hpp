// The callbacks: the user's hooks, on a thread of their own. The only actor of training that runs user code beside the
// infeed's input functions.
#pragma once

#include "messages/interfaces.hpp"

namespace troupe {

struct callbacks_options {
  std::string name = "callbacks";
  std::vector<std::shared_ptr<hook>> hooks;
  std::vector<std::string> outputs;  ///< Names of the values in a step's facts.
};

struct callbacks_state {
  static inline const char* name = "callbacks";
  callbacks_actor::stateful_pointer<callbacks_state> self = nullptr;
  callbacks_options options;
  chief_actor chief;
  std::vector<std::vector<need>> needs;  ///< Of each hook.

  void on_fact(const fact& x);
  void show(const fact& x);
};

callbacks_actor::behavior_type callbacks(callbacks_actor::stateful_pointer<callbacks_state> self, callbacks_options options,
                                         chief_actor chief);

}  // namespace troupe
