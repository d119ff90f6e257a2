// Who reads the data of a job, and which rows each replica gets.
// Not needed to begin with.
#pragma once

#include <troupe/api.hpp>

#include <cstdint>
#include <string_view>

namespace troupe {

/// Who reads the data of a step, and which rows each replica gets. In brackets the name that TPUEstimator has for it.
/// A batch of the data is what one read of an input yields: where an input feeds several replicas by whole batches, or
/// each has an input, a step has a batch for each replica. A job may resume with another mode.
enum class input_mode : uint8_t {
  per_core,     ///< Training: an input for each replica. Evaluation and prediction: as per_host. (PER_SHARD_V1)
  per_host,     ///< An input on each host; its batch is divided evenly among the replicas there. (PER_HOST_V1)
  per_replica,  ///< An input on each host; the replicas there get whole batches of it in turn. (PER_HOST_V2)
  broadcast,    ///< One input; every replica gets all rows of its batch. (BROADCAST)
  sliced,       ///< One input; its batch is divided evenly among all replicas. (SLICED)
};
TROUPE_API std::string_view to_string(input_mode m) noexcept;

}  // namespace troupe
