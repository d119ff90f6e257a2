// Metrics that are means, sums, or functions of one mean.
#include "compute/kernels/elementary.hpp"
#include "models/metrics/counted.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::metrics {

namespace {

/// Σ w·x / Σ w, to which `then` is applied if there is any weight.
metric mean_of(const counted& all, symbol x, double (*then)(double) = nullptr) {
  return {{all.total(x), all.total_weight()}, [then](std::span<const tensor> totals) -> metric_value {
            const double mean = std::get<double>(ratio_of(totals));
            return then && number_of(totals[1]) != 0 ? then(mean) : mean;
          }};
}

symbol error_of(const counted& all) {
  return sub(as_double(all.predictions, all.at), as_double(all.labels, all.at), all.at);
}

/// The operands cast to one dtype that holds the values of both, so that `equal` can compare them.
std::pair<symbol, symbol> comparable(symbol a, symbol b, std::source_location at) {
  if (a.type() == b.type() && is_number(a.type()))
    return {a, b};
  const dtype both = is_floating(a.type()) || is_floating(b.type()) ? dtype::float64 : dtype::int64;
  return {cast(a, both, at), cast(b, both, at)};
}

}  // namespace

metric mean(symbol values, options o, std::source_location at) {
  const auto all = count("metrics::mean", values, o.weights, at);
  return all.valid() ? mean_of(all, all.labels) : metric{};
}

metric sum(symbol values, options o, std::source_location at) {
  const auto all = count("metrics::sum", values, o.weights, at);
  if (!all.valid())
    return {};
  return {{all.total(all.labels)}, [](std::span<const tensor> totals) -> metric_value { return number_of(totals[0]); }};
}

metric accuracy(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto all = count("metrics::accuracy", labels, predictions, o.weights, at);
  if (!all.valid())
    return {};
  const auto [a, b] = comparable(all.labels, all.predictions, at);
  return mean_of(all, equal(a, b, at));
}

metric accuracy_baseline(symbol labels, options o, std::source_location at) {
  const auto all = count("metrics::accuracy_baseline", labels, o.weights, at);
  if (!all.valid())
    return {};
  return mean_of(all, check_range(as_double(all.labels, at), 0, 1, "labels", at),
                 [](double m) { return std::max(m, 1 - m); });
}

metric binary_accuracy(symbol labels, symbol predictions, binary_accuracy_options o, std::source_location at) {
  constexpr std::string_view name = "metrics::binary_accuracy";
  const auto all = count(name, labels, predictions, o.weights, at);
  if (!all.valid())
    return {};
  if (!is_floating(all.predictions.type()) || !std::isfinite(o.threshold))
    return refuse_metric(predictions, name,
                         "needs floating predictions and a finite threshold, not " + describe(predictions) + " and "
                             + option_text(o.threshold),
                         at);
  const symbol above = greater(all.predictions, number_like(all.predictions, o.threshold, at), at);
  return mean_of(all, equal(cast(is_positive(all.labels, at), dtype::int32, at), cast(above, dtype::int32, at), at));
}

metric mean_squared_error(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto all = count("metrics::mean_squared_error", labels, predictions, o.weights, at);
  return all.valid() ? mean_of(all, square(error_of(all), at)) : metric{};
}

metric root_mean_squared_error(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto all = count("metrics::root_mean_squared_error", labels, predictions, o.weights, at);
  return all.valid() ? mean_of(all, square(error_of(all), at), [](double m) { return std::sqrt(m); }) : metric{};
}

metric mean_absolute_error(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto all = count("metrics::mean_absolute_error", labels, predictions, o.weights, at);
  return all.valid() ? mean_of(all, abs(error_of(all), at)) : metric{};
}

metric mean_relative_error(symbol labels, symbol predictions, symbol normaliser, options o, std::source_location at) {
  constexpr std::string_view name = "metrics::mean_relative_error";
  // In pairs, one after the other: each call brings [batch] and [batch, 1] to one shape.
  const auto first = count(name, labels, normaliser, {}, at);
  if (!first.valid())
    return {};
  const auto all = count(name, first.labels, predictions, o.weights, at);
  if (!all.valid())
    return {};
  const auto by = count(name, all.labels, first.predictions, {}, at);
  const symbol per = as_double(by.predictions, at), zero = fill(*per.owner(), 0, dtype::float64, {}, at);
  return mean_of(all, select(equal(per, zero, at), zero, div(abs(error_of(all), at), per, at), at));
}

metric mean_cosine_distance(symbol labels, symbol predictions, int axis, options o, std::source_location at) {
  constexpr std::string_view name = "metrics::mean_cosine_distance";
  const auto vectors = count(name, labels, predictions, {}, at);
  if (!vectors.valid())
    return {};
  if (!normal_axis(axis, vectors.labels.rank()))
    return refuse_metric(labels, name, "its axis must be one of " + describe(labels) + ", not " + std::to_string(axis),
                         at);
  const symbol products = mul(as_double(vectors.labels, at), as_double(vectors.predictions, at), at);
  const auto all = count(name, reduce_sum(products, {.axes = {axis}}, at), o.weights, at);
  return all.valid() ? mean_of(all, sub(fill(*products.owner(), 1, dtype::float64, {}, at), all.labels, at)) : metric{};
}

metric log_loss(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto all = count("metrics::log_loss", labels, predictions, o.weights, at);
  if (!all.valid())
    return {};
  constexpr double epsilon = 1e-7;
  const symbol y = as_double(all.labels, at), p = check_range(as_double(all.predictions, at), 0, 1, "predictions", at);
  const auto number = [&](double x) { return fill(*y.owner(), x, dtype::float64, {}, at); };
  const symbol of_one = mul(y, log(add(p, number(epsilon), at), at), at);
  const symbol of_zero = mul(sub(number(1), y, at), log(add(sub(number(1), p, at), number(epsilon), at), at), at);
  return mean_of(all, neg(add(of_one, of_zero, at), at));
}

metric perplexity(symbol losses, options o, std::source_location at) {
  const auto all = count("metrics::perplexity", losses, o.weights, at);
  return all.valid() ? mean_of(all, all.labels, [](double m) { return elementary::exp(m); }) : metric{};
}

}  // namespace troupe::metrics
