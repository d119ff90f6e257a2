// The board of a prediction: the predictor puts results here, and a thread outside takes them.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"
#include "words/step_values.hpp"

namespace troupe {

/// The predictor calls these functions in this order. Implementations hold a lock no longer than a move takes.
class prediction_board {
 public:
  virtual ~prediction_board() = default;
  /// The first call, unless loading has failed.
  virtual void loaded(loaded_state from) = 0;
  /// The next batch's outputs.
  virtual void batch(step_values values) = 0;
  /// The last call: the data ended, or `cause` is the failure. Only the first of several calls counts.
  virtual void ended(std::optional<error> cause) = 0;
};

}  // namespace troupe
