// The preparer of an agent: prepares another plan with its programs and engines while a job runs. It is started at the
// first request. It has its own thread, since it runs user code: the planner and model functions.
#pragma once

#include "messages/interfaces.hpp"
#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

struct preparer_options {
  int32_t place = 0;
  /// The current job. The next one takes over its settings, boards and claims, and then replaces it here.
  std::shared_ptr<const prepared_job> present;
  /// The preparer puts the next job here before it sends `prepared`. The receiver of `prepared` takes it.
  std::shared_ptr<std::shared_ptr<prepared_job>> next;
  agent_actor asker;
};

struct preparer_state {
  static inline const char* name = "preparer";
  preparer_options options;
};

preparer_actor::behavior_type preparer(preparer_actor::stateful_pointer<preparer_state> self, preparer_options options);

}  // namespace troupe
