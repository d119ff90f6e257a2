// What an evaluation of a training job is for.
#pragma once

#include <cstdint>

namespace troupe {

enum class evaluation_purpose : uint8_t {
  regular,  ///< Of an `eval_spec`: as its schedule says.
  choice,   ///< On demand of a search: the scores of the candidates of an iteration.
  reports,  ///< On demand of a search: the metrics for the reports of an iteration.
};

}  // namespace troupe
