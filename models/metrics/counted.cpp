#include "models/metrics/counted.hpp"

#include <algorithm>
#include <limits>

namespace troupe {

metric::metric(ratio_metric ratio) : sums{ratio.total, ratio.weight}, result(metrics::ratio_of) {
  for (const auto& [part, value] : {std::pair{"total", ratio.total}, std::pair{"weight", ratio.weight}})
    if (value.valid() && known_elements(value.dims()) != 1)
      value.owner()->invalid({errc::invalid_argument, "the " + std::string{part}
                                                          + " of a ratio_metric must be a scalar or one element, not "
                                                          + to_string(*value.owner(), value.dims())},
                             contents_of(*value.owner()).nodes[static_cast<size_t>(value.node())].at);
}

namespace metrics {

namespace {

/// `x` without its last axis, if that has extent 1 and `other` lacks it.
symbol without_last(symbol x, symbol other, std::source_location at) {
  return x.rank() == other.rank() + 1 && x.dims().back() == extent{1} ? squeeze(x, {-1}, at) : x;
}

/// The weights as float64 of the shape of `like`.
symbol spread(std::string_view name, symbol weights, symbol like, std::source_location at) {
  graph& g = *like.owner();
  weights = without_last(weights, like, at);
  const auto refused = [&] {
    return refuse(g, name,
                  "the weights must broadcast to " + to_string(g, like.dims()) + " or be those of its first axes, not "
                      + describe(weights),
                  at);
  };
  if (weights.rank() > like.rank())
    return refused();
  for (size_t i = 0; i < weights.dims().size(); ++i)
    if (weights.dims()[i] != extent{1} && weights.dims()[i] != like.dims()[i])
      return refused();
  symbol all = check_range(as_double(weights, at), 0, std::numeric_limits<double>::infinity(), "weights", at);
  for (int i = all.rank(); i < like.rank() && weights.rank() > 0; ++i)
    all = expand_dims(all, -1, at);
  return all.valid() && all.dims() != like.dims() ? broadcast_to(all, symbol_shape{like.dims()}, at) : all;
}

}  // namespace

symbol counted::whole_weights() const {
  return weights.valid() ? weights : fill(*labels.owner(), 1, dtype::float64, symbol_shape{labels.dims()}, at);
}

symbol counted::weighted(symbol x) const {
  return weights.valid() ? mul(weights, as_double(x, at), at) : as_double(x, at);
}

symbol counted::total(symbol x) const { return reduce_sum(weighted(x), {}, at); }

symbol counted::total_weight() const { return reduce_sum(whole_weights(), {}, at); }

counted count(std::string_view name, symbol labels, symbol predictions, symbol weights, std::source_location at) {
  graph* g = common_graph(
      name, weights.valid() ? std::vector{labels, predictions, weights} : std::vector{labels, predictions}, at);
  if (!g)
    return {};
  labels = without_last(labels, predictions, at);
  predictions = without_last(predictions, labels, at);
  if (labels.dims() != predictions.dims()) {
    refuse(*g, name,
           "labels and predictions must be of one shape, not " + describe(labels) + " and " + describe(predictions),
           at);
    return {};
  }
  counted all{labels, predictions, {}, at};
  if (weights.valid() && !(all.weights = spread(name, weights, labels, at)).valid())
    return {};
  return all;
}

counted count(std::string_view name, symbol values, symbol weights, std::source_location at) {
  return count(name, values, values, weights, at);
}

metric refuse_metric(symbol operand, std::string_view name, const std::string& message, std::source_location at) {
  if (operand.valid())
    refuse(*operand.owner(), name, message, at);
  return {};
}

symbol as_double(symbol x, std::source_location at) { return cast(x, dtype::float64, at); }

symbol is_positive(symbol x, std::source_location at) {
  return x.type() == dtype::boolean ? x : not_equal(as_double(x, at), fill(*x.owner(), 0, dtype::float64, {}, at), at);
}

symbol flat(symbol x, std::source_location at) { return x.rank() == 1 ? x : reshape(x, {extent{-1}}, at); }

metric_value ratio_of(std::span<const tensor> totals) {
  const double weight = number_of(totals[1]);
  return weight != 0 ? number_of(totals[0]) / weight : 0.0;
}

double number_of(const tensor& total) { return total.as<double>()[0]; }

}  // namespace metrics

}  // namespace troupe
