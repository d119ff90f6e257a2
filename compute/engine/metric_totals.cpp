#include "compute/engine/metric_totals.hpp"

#include <algorithm>

namespace troupe {

namespace {

double first_element(const tensor& t) {
  if (t.elements() < 1)
    return 0;
  switch (t.type()) {
    case dtype::float32: return static_cast<double>(t.as<float>()[0]);
    case dtype::float64: return t.as<double>()[0];
    case dtype::int32: return static_cast<double>(t.as<int32_t>()[0]);
    case dtype::int64: return static_cast<double>(t.as<int64_t>()[0]);
    case dtype::boolean: return t.as<bool>()[0] ? 1 : 0;
    case dtype::uint8: return static_cast<double>(t.as<uint8_t>()[0]);
  }
  return 0;
}

}  // namespace

void metric_totals::clear() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  batches_ = 0;
}

void metric_totals::add(std::span<const tensor> values) {
  for (size_t i = 0; i < sums_.size() && i < values.size(); ++i)
    if (outputs_[i].dims.elements() == 1)
      sums_[i] += first_element(values[i]);
  ++batches_;
}

std::map<std::string, double> metric_totals::results() const {
  using kind = program_output::kind;
  std::map<std::string, double> results;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const auto& o = outputs_[i];
    if (o.what == kind::loss)
      results["loss"] = batches_ ? sums_[i] / static_cast<double>(batches_) : 0;
    if (o.what != kind::metric_total)
      continue;
    const auto weight = std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& x) { return x.what == kind::metric_weight && x.index == o.index; });
    if (weight != outputs_.end()) {
      const double w = sums_[static_cast<size_t>(weight - outputs_.begin())];
      results[o.name] = w != 0 ? sums_[i] / w : 0;
    }
  }
  return results;
}

}  // namespace troupe
