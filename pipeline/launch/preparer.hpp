// The preparer of an agent: makes another plan, its engines and its programs while a job runs. Started when one is first wanted, on a thread of its own, as
// user code runs there: the planner and model functions.
#pragma once

#include "messages/interfaces.hpp"
#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

struct preparer_options {
  int32_t place = 0;
  std::shared_ptr<const prepared_job> present;       ///< Its settings, boards and claims are those of the job; it is let go once there is a next one.
  /// Where the next one is put before `prepared` is sent; whoever hears of it takes it.
  std::shared_ptr<std::shared_ptr<prepared_job>> next;
  agent_actor asker;
};

struct preparer_state {
  static inline const char* name = "preparer";
  preparer_options options;
};

preparer_actor::behavior_type preparer(preparer_actor::stateful_pointer<preparer_state> self, preparer_options options);

}  // namespace troupe
