// What every metric begins with: labels and predictions of one shape, the weights of their elements, and sums in
// float64.
#pragma once

#include "compute/graph/graph.hpp"

#include <troupe/metrics.hpp>
#include <troupe/options/option_field.hpp>

namespace troupe::metrics {

/// The elements that a metric counts. Not valid if the graph keeps an error; the metric is then empty.
struct counted {
  symbol labels, predictions;  ///< Of one shape.
  symbol weights;              ///< Float64 of that shape. If the symbol is invalid, every weight is 1.
  std::source_location at;

  bool valid() const noexcept { return labels.valid(); }
  /// The weights in float64, even where all are 1.
  symbol whole_weights() const;
  /// w·x, float64.
  symbol weighted(symbol x) const;
  /// Σ w·x and Σ w: float64 scalars.
  symbol total(symbol x) const;
  symbol total_weight() const;
};

/// Brings labels, predictions and weights to one shape. Errors begin with `name`, that of the metric: operands of other
/// shapes, weights that do not broadcast to them.
counted count(std::string_view name, symbol labels, symbol predictions, symbol weights, std::source_location at);
/// The same for `values` alone, which become the labels and the predictions.
counted count(std::string_view name, symbol values, symbol weights, std::source_location at);

/// Keeps an error such as "metrics::auc: <message> (model.cpp:12)" in the graph of `operand`, which may be invalid.
/// Returns an empty metric.
metric refuse_metric(symbol operand, std::string_view name, const std::string& message, std::source_location at);

symbol as_double(symbol x, std::source_location at);
/// A boolean: whether x is not 0.
symbol is_positive(symbol x, std::source_location at);
/// x reshaped to one axis.
symbol flat(symbol x, std::source_location at);

/// Σ total / Σ weight of the first two sums; 0 where the second is 0.
metric_value ratio_of(std::span<const tensor> totals);
/// The first element of a total.
double number_of(const tensor& total);

}  // namespace troupe::metrics
