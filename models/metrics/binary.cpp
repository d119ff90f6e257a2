// Metrics of two classes. Metrics at thresholds count labels by bucket: each prediction lies in a bucket between two
// thresholds. A batch therefore costs the same for any number of thresholds.
#include "models/metrics/counted.hpp"
#include "models/metrics/curves.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::metrics {

namespace {

using counts_function = std::function<metric_value(const threshold_counts&)>;

/// What these metrics need of a batch: whether the label, the prediction, or both are positive, as booleans.
struct positives {
  counted all;
  symbol label, prediction, both;
};

positives positives_of(std::string_view name, symbol labels, symbol predictions, symbol weights,
                       std::source_location at) {
  positives p{count(name, labels, predictions, weights, at), {}, {}, {}};
  if (!p.all.valid())
    return p;
  p.label = is_positive(p.all.labels, at);
  p.prediction = is_positive(p.all.predictions, at);
  p.both = logical_and(p.label, p.prediction, at);
  return p;
}

/// A metric that counts labels by bucket between ascending `thresholds`, and applies `then` to the counts at them.
metric at_thresholds(std::string_view name, symbol labels, symbol predictions, symbol weights,
                     const std::vector<double>& thresholds, counts_function then, std::source_location at) {
  const auto all = count(name, labels, predictions, weights, at);
  if (!all.valid())
    return {};
  if (!is_floating(all.predictions.type()))
    return refuse_metric(predictions, name, "needs floating predictions, not " + describe(predictions), at);
  graph& g = *all.labels.owner();
  const auto n = static_cast<int64_t>(thresholds.size());
  const symbol bounds = g.constant(tensor::of<double>({n}, std::span<const double>{thresholds}), at);
  const symbol p = flat(check_range(all.predictions, 0, 1, "predictions", at), at);
  const symbol bucket = search_sorted(cast(bounds, p.type(), at), p, at);
  const symbol weight = flat(all.whole_weights(), at), positive = flat(as_double(is_positive(all.labels, at), at), at);
  const symbol of_positives = mul(weight, positive, at);
  return {{scatter_add(bucket, of_positives, n + 1, at), scatter_add(bucket, sub(weight, of_positives, at), n + 1, at)},
          [then = std::move(then)](std::span<const tensor> totals) -> metric_value {
            return then(counts_of(totals[0].as<double>(), totals[1].as<double>()));
          }};
}

/// The user's thresholds in ascending order, and the index of each in that order.
struct sorted_thresholds {
  std::vector<double> values;
  std::vector<size_t> place;
};

sorted_thresholds sorted(const std::vector<double>& thresholds) {
  sorted_thresholds s{thresholds, {}};
  std::sort(s.values.begin(), s.values.end());
  for (const double t : thresholds)
    s.place.push_back(static_cast<size_t>(std::lower_bound(s.values.begin(), s.values.end(), t) - s.values.begin()));
  return s;
}

/// An array metric: `value(counts, i)` at each of the user's thresholds.
template <class Value>
metric values_at_thresholds(std::string_view name, symbol labels, symbol predictions,
                            const std::vector<double>& thresholds, const options& o, std::source_location at,
                            Value value) {
  for (const double t : thresholds)
    if (!(t >= 0 && t <= 1))
      return refuse_metric(labels, name, "thresholds must be in [0, 1], not " + option_text(t), at);
  if (thresholds.empty() || std::ssize(thresholds) >= metric_elements_max)
    return refuse_metric(labels, name,
                         "needs from 1 to " + std::to_string(metric_elements_max - 1) + " thresholds, not "
                             + std::to_string(thresholds.size()),
                         at);
  auto s = sorted(thresholds);
  return at_thresholds(
      name, labels, predictions, o.weights, s.values,
      [place = s.place, value](const threshold_counts& c) -> metric_value {
        std::vector<double> values;
        for (const size_t i : place)
          values.push_back(value(c, i));
        return tensor::of<double>({std::ssize(values)}, std::span<const double>{values});
      },
      at);
}

/// The total weight of the elements with this label and this prediction.
metric count_of(std::string_view name, symbol labels, symbol predictions, bool label, bool prediction, const options& o,
                std::source_location at) {
  const auto p = positives_of(name, labels, predictions, o.weights, at);
  if (!p.all.valid())
    return {};
  const symbol chosen = logical_and(label ? p.label : logical_not(p.label, at),
                                    prediction ? p.prediction : logical_not(p.prediction, at), at);
  return {{p.all.total(chosen)}, [](std::span<const tensor> totals) -> metric_value { return number_of(totals[0]); }};
}

using counts_member = std::vector<double> threshold_counts::*;

metric counts_at_thresholds(std::string_view name, symbol labels, symbol predictions,
                            const std::vector<double>& thresholds, counts_member which, const options& o,
                            std::source_location at) {
  return values_at_thresholds(name, labels, predictions, thresholds, o, at,
                              [which](const threshold_counts& c, size_t i) { return (c.*which)[i]; });
}

/// TP / (TP + other + 1e-7)
metric share_at_thresholds(std::string_view name, symbol labels, symbol predictions,
                           const std::vector<double>& thresholds, counts_member other, const options& o,
                           std::source_location at) {
  return values_at_thresholds(
      name, labels, predictions, thresholds, o, at,
      [other](const threshold_counts& c, size_t i) { return c.tp[i] / (c.tp[i] + (c.*other)[i] + 1e-7); });
}

constexpr int64_t even_thresholds_max = 100'000;

/// A metric at evenly spaced thresholds; `at_value`, if there is one, must be in [0, 1].
metric of_curve(std::string_view name, symbol labels, symbol predictions, symbol weights, int64_t thresholds,
                std::optional<double> at_value, counts_function then, std::source_location at) {
  if (thresholds < 2 || thresholds > even_thresholds_max)
    return refuse_metric(
        labels, name,
        "needs from 2 to " + std::to_string(even_thresholds_max) + " thresholds, not " + std::to_string(thresholds),
        at);
  if (at_value && !(*at_value >= 0 && *at_value <= 1))
    return refuse_metric(labels, name,
                         "the value that it is asked for must be in [0, 1], not " + option_text(*at_value), at);
  return at_thresholds(name, labels, predictions, weights, even_thresholds(thresholds), std::move(then), at);
}

}  // namespace

metric precision(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto p = positives_of("metrics::precision", labels, predictions, o.weights, at);
  return p.all.valid() ? metric{{p.all.total(p.both), p.all.total(p.prediction)}, ratio_of} : metric{};
}

metric recall(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto p = positives_of("metrics::recall", labels, predictions, o.weights, at);
  return p.all.valid() ? metric{{p.all.total(p.both), p.all.total(p.label)}, ratio_of} : metric{};
}

metric f1(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto p = positives_of("metrics::f1", labels, predictions, o.weights, at);
  if (!p.all.valid())
    return {};
  return {{p.all.total(p.both), p.all.total(p.label), p.all.total(p.prediction)},
          [](std::span<const tensor> totals) -> metric_value {
            const double both = number_of(totals[0]), either = number_of(totals[1]) + number_of(totals[2]);
            return either != 0 ? 2 * both / either : 0.0;
          }};
}

metric precision_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o,
                               std::source_location at) {
  return share_at_thresholds("metrics::precision_at_thresholds", labels, predictions, thresholds, &threshold_counts::fp,
                             o, at);
}

metric recall_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o,
                            std::source_location at) {
  return share_at_thresholds("metrics::recall_at_thresholds", labels, predictions, thresholds, &threshold_counts::fn, o,
                             at);
}

metric true_positives(symbol labels, symbol predictions, options o, std::source_location at) {
  return count_of("metrics::true_positives", labels, predictions, true, true, o, at);
}

metric false_positives(symbol labels, symbol predictions, options o, std::source_location at) {
  return count_of("metrics::false_positives", labels, predictions, false, true, o, at);
}

metric true_negatives(symbol labels, symbol predictions, options o, std::source_location at) {
  return count_of("metrics::true_negatives", labels, predictions, false, false, o, at);
}

metric false_negatives(symbol labels, symbol predictions, options o, std::source_location at) {
  return count_of("metrics::false_negatives", labels, predictions, true, false, o, at);
}

metric true_positives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o,
                                    std::source_location at) {
  return counts_at_thresholds("metrics::true_positives_at_thresholds", labels, predictions, thresholds,
                              &threshold_counts::tp, o, at);
}

metric false_positives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o,
                                     std::source_location at) {
  return counts_at_thresholds("metrics::false_positives_at_thresholds", labels, predictions, thresholds,
                              &threshold_counts::fp, o, at);
}

metric true_negatives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o,
                                    std::source_location at) {
  return counts_at_thresholds("metrics::true_negatives_at_thresholds", labels, predictions, thresholds,
                              &threshold_counts::tn, o, at);
}

metric false_negatives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o,
                                     std::source_location at) {
  return counts_at_thresholds("metrics::false_negatives_at_thresholds", labels, predictions, thresholds,
                              &threshold_counts::fn, o, at);
}

metric precision_at_recall(symbol labels, symbol predictions, double recall, curve_options o, std::source_location at) {
  return of_curve(
      "metrics::precision_at_recall", labels, predictions, o.weights, o.thresholds, recall,
      [recall](const threshold_counts& c) -> metric_value { return precision_where_recall_reaches(c, recall); }, at);
}

metric sensitivity_at_specificity(symbol labels, symbol predictions, double specificity, curve_options o,
                                  std::source_location at) {
  return of_curve(
      "metrics::sensitivity_at_specificity", labels, predictions, o.weights, o.thresholds, specificity,
      [specificity](const threshold_counts& c) -> metric_value {
        return sensitivity_where_specificity_is(c, specificity);
      },
      at);
}

metric recall_at_precision(symbol labels, symbol predictions, double precision, curve_options o,
                           std::source_location at) {
  return of_curve(
      "metrics::recall_at_precision", labels, predictions, o.weights, o.thresholds, precision,
      [precision](const threshold_counts& c) -> metric_value { return recall_where_precision_reaches(c, precision); },
      at);
}

metric specificity_at_sensitivity(symbol labels, symbol predictions, double sensitivity, curve_options o,
                                  std::source_location at) {
  return of_curve(
      "metrics::specificity_at_sensitivity", labels, predictions, o.weights, o.thresholds, sensitivity,
      [sensitivity](const threshold_counts& c) -> metric_value {
        return specificity_where_sensitivity_is(c, sensitivity);
      },
      at);
}

metric auc(symbol labels, symbol predictions, auc_options o, std::source_location at) {
  return of_curve(
      "metrics::auc", labels, predictions, o.weights, o.thresholds, std::nullopt,
      [of = o.curve, how = o.summation](const threshold_counts& c) -> metric_value { return area_under(c, of, how); },
      at);
}

}  // namespace troupe::metrics
