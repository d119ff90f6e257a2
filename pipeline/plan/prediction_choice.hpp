// The choice of a model's predictions, and the checks of their shapes.
#pragma once

#include <troupe/model.hpp>

namespace troupe {

struct prediction_choice {
  std::vector<std::string> keys = {};            ///< Keys of predictions and texts; empty: all.
  bool single_examples = true;                   ///< Each prediction must have one row for each example.
  int64_t bytes_below = int64_t{1} << 30;        ///< All predictions of one batch must take fewer bytes.
};

/// Returns `source` with only the chosen predictions and those that chosen texts are made of, so that no other is
/// computed. An error that is found when the model is built for batches of `rows` is kept in `refused`, which outlives the
/// model: invalid_argument naming the unknown keys and the available ones, or the shape and the remedy.
model choose_predictions(std::shared_ptr<const model> source, prediction_choice choice, int64_t rows,
                         std::shared_ptr<std::optional<error>> refused);

}  // namespace troupe
