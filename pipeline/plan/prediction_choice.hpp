// The choice of a model's predictions, and checks of their shapes.
#pragma once

#include <troupe/model.hpp>

namespace troupe {

struct prediction_choice {
  std::vector<std::string> keys = {};      ///< Keys of predictions and texts; empty: all.
  bool single_examples = true;             ///< Each prediction must have one row for each example.
  int64_t bytes_below = int64_t{1} << 30;  ///< The predictions of one batch must take fewer bytes than this.
};

/// Returns `source` with only the chosen predictions and those that the chosen texts are made of, so that no others are
/// computed. If building the model for batches of `rows` finds an error, it is stored in `refused`, which must outlive
/// the model: invalid_argument naming the unknown keys and the available ones, or the shape and the remedy.
model choose_predictions(std::shared_ptr<const model> source, prediction_choice choice, int64_t rows,
                         std::shared_ptr<std::optional<error>> refused);

}  // namespace troupe
