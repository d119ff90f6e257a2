// The board of a prediction: where the predictor puts what a thread outside takes.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"
#include "words/step_values.hpp"

namespace troupe {

/// Written by the predictor, in this order. Implementations lock for no longer than a move takes.
class prediction_board {
 public:
  virtual ~prediction_board() = default;
  /// The first call, unless loading failed.
  virtual void loaded(loaded_state from) = 0;
  /// The next batch's outputs.
  virtual void batch(step_values values) = 0;
  /// Nothing follows: the data ended, or `cause` says what did. The first of several counts.
  virtual void ended(std::optional<error> cause) = 0;
};

}  // namespace troupe
