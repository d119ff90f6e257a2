// The outputs of a program: what each is, and the model's name for it.
#pragma once

#include <troupe/tensor.hpp>

#include <string>

namespace troupe {

struct program_output {
  enum class kind : uint8_t {
    loss,
    metric_sum,   ///< Evaluate, and what is measured while training: one of the sums of a metric, of one batch.
    prediction,   ///< Predict.
    exposed,      ///< Train: a prediction that other programs read.
  };
  kind what = kind::loss;
  std::string name;               ///< Of the metric or the prediction.
  int32_t index = 0;              ///< Its place among the model's metrics or predictions, or among what is exposed.
  int32_t part = 0;               ///< metric_sum: its place among the sums of the metric.
  dtype type = dtype::float32;
  shape dims;
};

/// For people: "loss", "accuracy/0", "accuracy/1", "class_ids".
std::string to_string(const program_output& output);

}  // namespace troupe
