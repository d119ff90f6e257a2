// Which predictions of a model are made, and what is asked of their shapes.
#pragma once

#include <troupe/model.hpp>

namespace troupe {

struct prediction_choice {
  std::vector<std::string> keys = {};            ///< Of predictions and texts; empty: all.
  bool single_examples = true;                   ///< Each has one row for each example.
  int64_t bytes_below = int64_t{1} << 30;        ///< All that are made, of one batch.
};

/// `source` with no other predictions than the chosen ones and those that chosen texts are made of, so that nothing else
/// is computed. What is wrong with them when it is built for batches of `rows` is kept in `refused`, which outlives it:
/// invalid_argument naming the key, what there is, the shape and what would be right.
model choose_predictions(std::shared_ptr<const model> source, prediction_choice choice, int64_t rows,
                         std::shared_ptr<std::optional<error>> refused);

}  // namespace troupe
