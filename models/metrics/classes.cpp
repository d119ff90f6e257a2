// Metrics of many classes.
#include "models/metrics/counted.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace troupe::metrics {

namespace {

constexpr int64_t classes_max = int64_t{1} << 20, confusion_classes_max = int64_t{1} << 11;
static_assert(confusion_classes_max * confusion_classes_max == metric_elements_max);

/// Classes of labels and predictions, each along one axis, with their weights; invalid symbols if the graph keeps an
/// error.
struct classified {
  symbol labels, predictions, weights;
  counted all;
};

/// Class numbers as int64; one outside of [0, classes) fails the step.
symbol class_numbers(std::string_view what, symbol x, int64_t classes, std::source_location at) {
  return flat(check_range(cast(x, dtype::int64, at), 0, static_cast<double>(classes - 1), what, at), at);
}

classified classify(std::string_view name, symbol labels, symbol predictions, int64_t classes, int64_t most,
                    symbol weights, std::source_location at) {
  classified c{{}, {}, {}, count(name, labels, predictions, weights, at)};
  if (!c.all.valid())
    return c;
  if (!is_integer(labels.type()) || !is_integer(predictions.type()) || classes < 2 || classes > most) {
    refuse_metric(labels, name,
                  "needs integer labels and predictions, and from 2 to " + std::to_string(most) + " classes, not "
                      + describe(labels) + ", " + describe(predictions) + " and " + std::to_string(classes),
                  at);
    return c;
  }
  c.labels = class_numbers("labels", c.all.labels, classes, at);
  c.predictions = class_numbers("predictions", c.all.predictions, classes, at);
  c.weights = flat(c.all.whole_weights(), at);
  return c;
}

/// By class: the weight of correct predictions.
symbol right_by_class(const classified& c, int64_t classes) {
  const auto at = c.all.at;
  return scatter_add(c.labels, mul(c.weights, as_double(equal(c.labels, c.predictions, at), at), at), classes, at);
}

/// 0, 1, ... n - 1
symbol counted_up(symbol like, int64_t n, std::source_location at) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  return like.owner()->constant(tensor::of<int64_t>({n}, std::span<const int64_t>{all}), at);
}

/// Whether each class of `of` [..., m], int64, is among the k greatest scores [..., classes]. Of equal scores, lower
/// classes come first. A class with a NaN score is never among them.
symbol in_greatest(symbol of, symbol scores, int64_t k, std::source_location at) {
  const symbol each = counted_up(scores, scores.dims().back().coefficient, at), column = expand_dims(of, -1, at),
               all = expand_dims(scores, -2, at);
  // Selects, since other scores may be infinite, and 0·∞ is NaN.
  const symbol own = reduce_sum(select(equal(each, column, at), all, number_like(scores, 0, at), at),
                                {.axes = {-1}, .keep = true}, at);
  const symbol ahead = logical_or(greater(all, own, at), logical_and(equal(all, own, at), less(each, column, at), at),
                                  at);
  const symbol place = reduce_sum(cast(ahead, dtype::int32, at), {.axes = {-1}}, at);
  return logical_and(less(place, number_like(place, static_cast<double>(k), at), at),
                     squeeze(equal(own, own, at), {-1}, at), at);
}

/// The mean of `share(class)` over the classes where it is not negative; 0 without any.
template <class F>
double mean_over_classes(size_t classes, F share) {
  double sum = 0, counted = 0;
  for (size_t i = 0; i < classes; ++i)
    if (const double x = share(i); x >= 0) {
      sum += x;
      ++counted;
    }
  return counted > 0 ? sum / counted : 0;
}

}  // namespace

metric top_k(symbol labels, symbol scores, int64_t k, options o, std::source_location at) {
  constexpr std::string_view name = "metrics::top_k";
  if (!common_graph(name, {labels, scores}, at))
    return {};
  const auto wrong = [&] {
    return refuse_metric(labels, name,
                         "needs integer labels [...], floating scores [..., classes] and k in [1, classes], not "
                             + describe(labels) + ", " + describe(scores) + " and " + std::to_string(k),
                         at);
  };
  if (!is_integer(labels.type()) || !is_floating(scores.type()) || scores.rank() < 1 || !scores.dims().back().known())
    return wrong();
  const int64_t classes = scores.dims().back().coefficient;
  if (labels.rank() == scores.rank() && labels.dims().back() == extent{1})
    labels = squeeze(labels, {-1}, at);
  if (k < 1 || k > classes
      || !std::equal(labels.dims().begin(), labels.dims().end(), scores.dims().begin(), scores.dims().end() - 1))
    return wrong();
  const auto all = count(name, labels, o.weights, at);
  if (!all.valid())
    return {};
  const symbol label = check_range(cast(labels, dtype::int64, at), 0, static_cast<double>(classes - 1), "labels", at);
  const symbol zero = number_like(scores, 0, at), marked = one_hot(label, classes, scores.type(), at);
  // Selects, since other scores may be infinite, and 0·∞ is NaN.
  const symbol own = reduce_sum(select(greater(marked, zero, at), scores, zero, at), {.axes = {-1}, .keep = true}, at);
  const symbol above = reduce_sum(cast(greater(scores, own, at), dtype::int32, at), {.axes = {-1}}, at);
  const symbol finite = less(abs(squeeze(own, {-1}, at), at),
                             number_like(scores, std::numeric_limits<double>::infinity(), at), at);
  const symbol in = logical_and(less(above, number_like(above, static_cast<double>(k), at), at), finite, at);
  return {{all.total(in), all.total_weight()}, ratio_of};
}

metric precision_at_k(symbol labels, symbol scores, int64_t k, precision_at_k_options o, std::source_location at) {
  constexpr std::string_view name = "metrics::precision_at_k";
  if (!common_graph(name, {labels, scores}, at))
    return {};
  const bool known = scores.rank() >= 1 && scores.dims().back().known();
  const int64_t classes = known ? scores.dims().back().coefficient : 0;
  if (known && labels.rank() == scores.rank() - 1)
    labels = expand_dims(labels, -1, at);
  const bool fits = known && labels.rank() == scores.rank()
                    && std::equal(labels.dims().begin(), labels.dims().end() - 1, scores.dims().begin())
                    && labels.dims().back().known() && labels.dims().back().coefficient >= 1;
  if (!fits || !is_integer(labels.type()) || !is_floating(scores.type()) || k < 1 || k > classes
      || (o.class_id && (*o.class_id < 0 || *o.class_id >= classes)))
    return refuse_metric(
        labels, name,
        "needs integer labels [...] or [..., labels], floating scores [..., classes], k in [1, classes] and a class of "
        "those, not "
            + describe(labels) + ", " + describe(scores) + ", " + std::to_string(k) + " and "
            + (o.class_id ? std::to_string(*o.class_id) : "all"),
        at);
  const symbol label = cast(labels, dtype::int64, at);
  const auto any = [at](symbol x) { return reduce_max(as_double(x, at), {.axes = {-1}}, at); };
  symbol right, predicted;
  if (o.class_id) {
    const symbol wanted = scores.owner()->constant(tensor::of<int64_t>({1}, {*o.class_id}), at);
    predicted = as_double(squeeze(in_greatest(wanted, scores, k, at), {-1}, at), at);
    right = mul(predicted, any(equal(label, wanted, at)), at);
  } else {
    const auto number = [&](int64_t n) { return number_like(label, static_cast<double>(n), at); };
    const symbol valid = logical_and(greater_equal(label, number(0), at), less(label, number(classes), at), at);
    // A class that a row names twice counts once: where it is named first.
    const symbol place = counted_up(label, labels.dims().back().coefficient, at),
                 earlier = less(place, expand_dims(place, -1, at), at);
    const symbol again = any(
        logical_and(equal(expand_dims(label, -1, at), expand_dims(label, -2, at), at), earlier, at));
    const symbol found = as_double(logical_and(valid, in_greatest(label, scores, k, at), at), at);
    right = reduce_sum(mul(found, sub(number_like(again, 1, at), again, at), at), {.axes = {-1}}, at);
    predicted = fill(*scores.owner(), static_cast<double>(k), dtype::float64, symbol_shape{right.dims()}, at);
  }
  const auto all = count(name, right, predicted, o.weights, at);
  return all.valid() ? metric{{all.total(right), all.total(predicted)}, ratio_of} : metric{};
}

metric mean_per_class_accuracy(symbol labels, symbol predictions, int64_t classes, options o, std::source_location at) {
  const auto c = classify("metrics::mean_per_class_accuracy", labels, predictions, classes, classes_max, o.weights, at);
  if (!c.labels.valid())
    return {};
  return {{right_by_class(c, classes), scatter_add(c.labels, c.weights, classes, at)},
          [](std::span<const tensor> totals) -> metric_value {
            const auto right = totals[0].as<double>(), of_labels = totals[1].as<double>();
            return mean_over_classes(right.size(),
                                     [&](size_t i) { return of_labels[i] > 0 ? right[i] / of_labels[i] : -1; });
          }};
}

metric mean_iou(symbol labels, symbol predictions, int64_t classes, options o, std::source_location at) {
  const auto c = classify("metrics::mean_iou", labels, predictions, classes, classes_max, o.weights, at);
  if (!c.labels.valid())
    return {};
  return {{right_by_class(c, classes), scatter_add(c.labels, c.weights, classes, at),
           scatter_add(c.predictions, c.weights, classes, at)},
          [](std::span<const tensor> totals) -> metric_value {
            const auto right = totals[0].as<double>(), of_labels = totals[1].as<double>(),
                       of_predictions = totals[2].as<double>();
            return mean_over_classes(right.size(), [&](size_t i) {
              const double either = of_labels[i] + of_predictions[i] - right[i];
              return either > 0 ? right[i] / either : -1;
            });
          }};
}

metric confusion_matrix(symbol labels, symbol predictions, int64_t classes, options o, std::source_location at) {
  const auto c = classify("metrics::confusion_matrix", labels, predictions, classes, confusion_classes_max, o.weights,
                          at);
  if (!c.labels.valid())
    return {};
  const symbol place = add(mul(c.labels, number_like(c.labels, static_cast<double>(classes), at), at), c.predictions,
                           at);
  return {{reshape(scatter_add(place, c.weights, classes * classes, at), {classes, classes}, at)},
          [](std::span<const tensor> totals) -> metric_value { return totals[0]; }};
}

}  // namespace troupe::metrics
