#include "compute/engine/metric_totals.hpp"

#include "words/guarded.hpp"

#include <algorithm>

namespace troupe {

namespace {

using kind = program_output::kind;

void add_to(compensated_sums& sums, dtype type, const std::byte* x) {
  if (type == dtype::float64)
    sums.add(reinterpret_cast<const double*>(x));
  else if (type == dtype::float32)
    sums.add(reinterpret_cast<const float*>(x));
}

tensor as_tensor(const shape& dims, const compensated_sums& sums) {
  std::vector<double> numbers(static_cast<size_t>(sums.elements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = sums[i];
  return tensor::of<double>(dims, std::span<const double>{numbers});
}

expected<void> check_array(const std::string& name, const tensor& array) {
  if (array.type() == dtype::float64 && array.elements() <= metric_elements_max)
    return {};
  return fail(errc::invalid_argument, "metric '" + name + "' must come to a number or to a float64 array of at most "
                                          + std::to_string(metric_elements_max) + " elements, not to "
                                          + std::string{to_string(array.type())} + " of "
                                          + std::to_string(array.elements()));
}

}  // namespace

metric_functions functions_of(const std::map<std::string, metric>& metrics) {
  metric_functions all;
  for (const auto& [name, one] : metrics)
    all.push_back(one.result);
  return all;
}

metric_totals::metric_totals(std::vector<program_output> outputs, metric_functions functions)
  : outputs_(std::move(outputs)), functions_(std::move(functions)) {
  for (const auto& o : outputs_)
    sums_.emplace_back(o.what == kind::loss || o.what == kind::metric_sum ? o.dims.elements() : 0);
}

void metric_totals::clear() {
  for (auto& s : sums_)
    s.clear();
  batches_ = 0;
}

void metric_totals::add(std::span<const tensor> values) {
  for (size_t i = 0; i < sums_.size() && i < values.size(); ++i)
    if (counts(i) && values[i].elements() == sums_[i].elements())
      add_to(sums_[i], values[i].type(), values[i].data());
  ++batches_;
}

void metric_totals::add(std::span<const std::byte* const> values) {
  for (size_t i = 0; i < sums_.size() && i < values.size(); ++i)
    if (counts(i))
      add_to(sums_[i], outputs_[i].type, values[i]);
  ++batches_;
}

void metric_totals::add(const metric_totals& part) {
  for (size_t i = 0; i < sums_.size() && i < part.sums_.size(); ++i)
    if (counts(i) && part.sums_[i].elements() == sums_[i].elements())
      sums_[i].add(part.sums_[i]);
  batches_ += part.batches_;
}

std::vector<tensor> metric_totals::totals() const {
  std::vector<tensor> all(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (counts(i))
      all[i] = as_tensor(outputs_[i].dims, sums_[i]);
  return all;
}

expected<metric_results> metric_totals::results() const {
  metric_results results;
  const auto all = totals();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const auto& o = outputs_[i];
    if (o.what == kind::loss && counts(i))
      results.numbers["loss"] = batches_ ? sums_[i][0] / static_cast<double>(batches_) : 0;
    if (o.what != kind::metric_sum || o.part != 0 || static_cast<size_t>(o.index) >= functions_.size())
      continue;
    const auto& function = functions_[static_cast<size_t>(o.index)];
    size_t last = i;  // The sums of one metric are adjacent.
    while (last < outputs_.size() && outputs_[last].what == kind::metric_sum && outputs_[last].index == o.index)
      ++last;
    if (!function)
      continue;
    const auto value = guarded("metric '" + o.name + "'",
                               [&] { return function(std::span{all}.subspan(i, last - i)); });
    if (!value)
      return fail(value.error());
    if (const auto* array = std::get_if<tensor>(&*value)) {
      if (auto right = check_array(o.name, *array); !right)
        return fail(right.error());
      results.arrays[o.name] = *array;
    } else {
      results.numbers[o.name] = std::get<double>(*value);
    }
  }
  return results;
}

}  // namespace troupe
