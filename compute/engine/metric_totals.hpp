// Adds up the sums of metrics over many batches, in float64, and computes the metrics from the totals.
#pragma once

#include "compute/engine/compensated_sums.hpp"
#include "compute/program/program_output.hpp"

#include <troupe/model.hpp>

#include <map>

namespace troupe {

struct metric_results {
  std::map<std::string, double> numbers = {};
  std::map<std::string, tensor> arrays = {};  ///< Float64.
};

/// For each metric of a program, by index: the function that computes its value from its totals.
using metric_functions = std::vector<metric::function>;
metric_functions functions_of(const std::map<std::string, metric>& metrics);

/// The loss is the mean over batches, each with the same weight, as the Estimator computes it. Each metric is its
/// function of the totals of its sums. Totals are compensated: how batches are divided among parts changes at most
/// their last bit, and never a count. Used by one thread at a time.
class metric_totals {
 public:
  /// `outputs` are those of the program; ones that are neither the loss nor metric sums are ignored. A metric without a
  /// function is left out.
  explicit metric_totals(std::vector<program_output> outputs = {}, metric_functions functions = {});

  void clear();
  /// Adds one batch: `values` in the order of the outputs. The loss and metric sums are floating and have as many
  /// elements as their output.
  void add(std::span<const tensor> values);
  /// The same from raw memory: each value has the dtype of its output.
  void add(std::span<const std::byte* const> values);
  /// Adds the batches of another part, which must have the same outputs.
  void add(const metric_totals& part);
  int64_t batches() const noexcept { return batches_; }
  /// The float64 totals in the order of the outputs; an empty tensor for an output that is neither the loss nor a
  /// metric sum.
  std::vector<tensor> totals() const;
  /// The loss and the metrics, without `global_step`. Without any batch the loss is 0, and each metric is its function
  /// of zeros. Errors name the metric: state if a function threw, invalid_argument if it returned an array that is too
  /// large or not float64.
  expected<metric_results> results() const;

 private:
  bool counts(size_t output) const { return sums_[output].elements() > 0; }

  std::vector<program_output> outputs_;
  metric_functions functions_;
  std::vector<compensated_sums> sums_;  ///< By output; without elements for an output that is not added up.
  int64_t batches_ = 0;
};

}  // namespace troupe
