// What the handle of a job holds. Only for the sources that start jobs, and for the keeper of a job's status.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "storage/files/directory_claim.hpp"

#include <troupe/job.hpp>

namespace troupe {

struct job::impl {
  std::unique_ptr<running_job> running;
  std::shared_ptr<const directory_claim> claim = {};  ///< On its model directory; null: the job does not lock one.
  bool is_follower = false;                           ///< It looks into the directory of another process's job.
};

}  // namespace troupe
