// Adds the sums of metrics up over many batches, in float64, and turns their totals into what the metrics come to.
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

/// The functions of a program's metrics, by the index of the metric.
using metric_functions = std::vector<metric::function>;
metric_functions functions_of(const std::map<std::string, metric>& metrics);

/// The loss = mean over batches, each with the same weight, as the Estimator computes it; every metric = its function of the totals of its
/// sums. Totals are compensated: they do not depend on how batches are divided among parts but for their last bit, and counts not at all.
/// Used by one thread at a time.
class metric_totals {
 public:
  /// `outputs` of the program; those that are no loss and no part of a metric are ignored. A metric without a function is left out.
  explicit metric_totals(std::vector<program_output> outputs = {}, metric_functions functions = {});

  void clear();
  /// One batch: values in the order of the outputs; those of metrics and the loss are floating, with the elements of their output.
  void add(std::span<const tensor> values);
  /// The same for the memory of values, each of the dtype of its output.
  void add(std::span<const std::byte* const> values);
  /// The batches of another part, whose outputs are the same.
  void add(const metric_totals& part);
  int64_t batches() const noexcept { return batches_; }
  /// The totals in the order of the outputs: float64, empty for what is no loss and no part of a metric.
  std::vector<tensor> totals() const;
  /// The loss and the metrics, without `global_step`. Without any batch the loss is 0, and metrics are functions of zeros. state: a
  /// function threw; invalid_argument: it returned an array that is not float64 or too large. Both name the metric.
  expected<metric_results> results() const;

 private:
  bool counts(size_t output) const { return sums_[output].elements() > 0; }

  std::vector<program_output> outputs_;
  metric_functions functions_;
  std::vector<compensated_sums> sums_;  ///< For each output; without elements for what is not added up.
  int64_t batches_ = 0;
};

}  // namespace troupe
