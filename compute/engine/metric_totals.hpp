// Accumulates metrics over many batches, in float64 and in step order.
#pragma once

#include "compute/program/program_output.hpp"

#include <map>

namespace troupe {

/// loss = mean over batches, each with the same weight, as the Estimator computes it; every ratio metric = Σ total / Σ
/// weight.
class metric_totals {
 public:
  /// `outputs` of the program that evaluates; those that are no loss and no part of a metric are ignored.
  explicit metric_totals(std::vector<program_output> outputs) : outputs_(std::move(outputs)), sums_(outputs_.size(), 0.0) {}

  void clear();
  /// One batch: values in the order of the outputs.
  void add(std::span<const tensor> values);
  int64_t batches() const noexcept { return batches_; }
  /// The metrics without `global_step`. Without any batch the loss and the ratios are 0.
  std::map<std::string, double> results() const;

 private:
  std::vector<program_output> outputs_;
  std::vector<double> sums_;
  int64_t batches_ = 0;
};

}  // namespace troupe
