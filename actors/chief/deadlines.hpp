// The deadlines of a chief's waits.
#pragma once

#include <chrono>

namespace troupe {

struct chief_deadlines {
  std::chrono::milliseconds start{120'000};  ///< Until the newest checkpoint is loaded, and until hooks have begun.
  /// For preparing another plan, in which user code builds models.
  std::chrono::milliseconds preparation{600'000};
  std::chrono::milliseconds silence{600'000};            ///< Between two reports while steps are granted.
  std::chrono::milliseconds save{600'000};               ///< From reaching a snapshot's step to its commit.
  std::chrono::milliseconds evaluation{24 * 3'600'000};  ///< For one evaluation; the evaluator bounds its own silence.
  std::chrono::milliseconds hooks{60'000};  ///< For a hook to return while the job waits, and for its last call.
  std::chrono::milliseconds cut{1'000};     ///< From a stop to the cut of the horizon.
  std::chrono::milliseconds stop{30'000};   ///< For actors to end, to halt or to answer.
};

}  // namespace troupe
