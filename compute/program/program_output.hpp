// The outputs of a program: what each is, and the model's name for it.
#pragma once

#include <troupe/tensor.hpp>

#include <string>

namespace troupe {

struct program_output {
  enum class kind : uint8_t {
    loss,
    metric_sum,  ///< One of the sums of a metric over one batch: evaluate, and train if measured.
    prediction,  ///< Predict.
    exposed,     ///< Train: a prediction that other programs read.
    carried,     ///< Train and evaluate: the rows of a state for the next step.
    called,      ///< A tensor of a host call.
  };
  kind what = kind::loss;
  std::string name;   ///< Name of the metric, the prediction, the state or the tensor.
  int32_t index = 0;  ///< Index among the model's metrics, predictions or states, or among the exposed predictions.
  int32_t part = 0;   ///< metric_sum: index among the sums of the metric.
  dtype type = dtype::float32;
  shape dims;
};

/// The name of an output for people: "loss", "accuracy/0", "accuracy/1", "class_ids".
std::string to_string(const program_output& output);

}  // namespace troupe
