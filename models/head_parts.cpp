#include "models/head_parts.hpp"

#include "compute/graph/graph.hpp"
#include "words/text.hpp"

#include <troupe/vocabulary.hpp>

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

constexpr double most = std::numeric_limits<float>::max();

/// x, which is [batch] or [batch, 1], as [batch, 1]; a symbol without a graph for any other shape.
symbol as_column(symbol x, std::source_location at) {
  if (x.rank() == 1)
    return reshape(x, {x.dims()[0], extent{1}}, at);
  return x.rank() == 2 && x.dims()[1] == extent{1} ? x : symbol{};
}

symbol invalid_argument(graph& g, std::string what, std::source_location at) {
  return g.invalid({errc::invalid_argument, std::move(what)}, at);
}

/// The metric that is element i of an array metric.
metric element_of(metric array, size_t i) {
  return {std::move(array.sums), [whole = std::move(array.result), i](std::span<const tensor> totals) {
            return metric_value{std::get<tensor>(whole(totals)).as<double>()[i]};
          }};
}

}  // namespace

// -- options ---------------------------------------------------------------------

error wrong_option(std::string_view head, std::string_view what) {
  return {errc::invalid_argument, std::string{head}.append(": ").append(what)};
}

int64_t classes_of(int64_t classes, const std::vector<std::string>& vocabulary) {
  return classes == 0 && !vocabulary.empty() ? static_cast<int64_t>(vocabulary.size()) : classes;
}

std::optional<error> check_classes(std::string_view head, int64_t classes, const std::vector<std::string>& vocabulary,
                                   const std::vector<double>& class_weights) {
  const auto words = static_cast<int64_t>(vocabulary.size());
  if (words > 0) {
    if (auto valid = validate_vocabulary(vocabulary); !valid)
      return wrong_option(head, valid.error().message);
    if (words < 2)
      return wrong_option(head, "the vocabulary must have at least 2 words, not " + std::to_string(words));
    if (classes != words)
      return wrong_option(head, std::to_string(classes) + " classes cannot be called by the " + std::to_string(words)
                                    + " words of the vocabulary");
  }
  if (class_weights.empty())
    return {};
  if (std::ssize(class_weights) != classes)
    return wrong_option(head, "class_weights must be one for each of the " + std::to_string(classes) + " classes, not "
                                  + std::to_string(class_weights.size()));
  if (std::all_of(class_weights.begin(), class_weights.end(), [](double w) { return w == 0; }))
    return wrong_option(head, "class_weights must not all be 0: nothing would be learnt");
  return {};
}

std::optional<error> check_confusion_matrix(std::string_view head, bool wanted, int64_t classes) {
  constexpr int64_t most = 2048;
  static_assert(most * most == metric_elements_max);
  if (!wanted || classes <= most)
    return {};
  return wrong_option(
      head, "confusion_matrix is for at most " + std::to_string(most) + " classes, not " + std::to_string(classes));
}

std::optional<error> check_reduction(std::string_view head, losses::reduction reduce) {
  if (reduce != losses::reduction::none)
    return {};
  return wrong_option(head, "loss_reduction must make one number of the losses of a batch, and none does not");
}

std::optional<error> check_once(std::string_view head, std::string_view field, const std::vector<double>& numbers) {
  if (numbers.size() > listed_max)
    return wrong_option(head, std::string{field}
                                  .append(" can be ")
                                  .append(std::to_string(listed_max))
                                  .append(", not ")
                                  .append(std::to_string(numbers.size())));
  auto sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end())
    return {};
  return wrong_option(
      head,
      std::string{field}.append(" must have each number once, not ").append(shortest_text(*twice)).append(" twice"));
}

std::optional<error> first_of(std::initializer_list<std::optional<error>> errors) {
  for (const auto& e : errors)
    if (e)
      return e;
  return {};
}

// -- labels and weights ------------------------------------------------------------

symbol labels_like_logits(graph& g, std::string_view head, const head_spec_options& o, double least, double greatest,
                          std::source_location at) {
  const symbol logits = o.logits;
  const bool one = logits.dims()[1] == extent{1};
  symbol labels = o.labels.get(at);
  if (!labels.valid())
    return labels.owner() ? labels : invalid_argument(g, std::string{head}.append(" has no labels"), at);
  if (one && labels.rank() == 1)
    labels = as_column(labels, at);
  if (labels.valid() && labels.dims() != logits.dims())
    return invalid_argument(g,
                            "the labels of a " + std::string{head} + " must be " + to_string(g, logits.dims())
                                + (one ? " or [batch]" : "") + ", not " + to_string(g, labels.dims()),
                            at);
  const bool bounded = least > -most || greatest < most;
  if (is_floating(labels.type()) && !bounded)
    labels = check_numerics(labels, "labels", at);
  labels = cast(labels, logits.type(), at);
  return bounded ? check_range(labels, least, greatest, "labels", at) : labels;
}

symbol weights_of_examples(graph& g, std::string_view head, const std::string& feature, const head_spec_options& o,
                           std::source_location at) {
  if (feature.empty())
    return {};
  const std::string field = std::string{head}.append(": weight_feature '").append(feature).append("'");
  if (!o.features)
    return invalid_argument(g, field + " is given, but no features are: pass them to the head's spec", at);
  const auto found = o.features->all().find(feature);
  if (found == o.features->all().end())
    return invalid_argument(g,
                            field + " is none of the features, which are: "
                                + joined(o.features->all(), ", ", [](const auto& one) { return quoted(one.first); }),
                            at);
  const symbol given = found->second, column = given.valid() ? as_column(given, at) : given;
  if (!given.valid())
    return given;
  if (!column.owner())
    return invalid_argument(g, field + " must be [batch] or [batch, 1], not " + to_string(g, given.dims()), at);
  return check_range(cast(column, o.logits.type(), at), 0, most, "weights of examples, feature '" + feature + "'", at);
}

symbol times(symbol a, symbol b, std::source_location at) { return !a.owner() ? b : !b.owner() ? a : mul(a, b, at); }

symbol row_like(symbol x, const std::vector<double>& values, std::source_location at) {
  const auto row = tensor::of<double>({1, std::ssize(values)}, std::span<const double>{values});
  return cast(x.owner()->constant(row, at), x.type(), at);
}

symbol reduced(symbol each, symbol weights, losses::reduction reduce, std::source_location at) {
  if (!weights.owner() && reduce != losses::reduction::sum)
    return reduce_mean(each, {}, at);
  return losses::reduce(each, {.weights = weights, .reduce = reduce}, at);
}

// -- export outputs --------------------------------------------------------------

export_outputs with_predictions(export_outputs own) {
  own["serving_default"].clear();  // Cleared, since a head of a multi_head may have this name.
  own["predict"].clear();
  return own;
}

// -- metrics ---------------------------------------------------------------------

void add_threshold_metrics(std::map<std::string, metric>& to, const std::vector<double>& thresholds, symbol labels,
                           symbol probabilities, symbol weights, std::source_location at) {
  const metrics::options weighted{.weights = weights};
  for (const double t : thresholds) {
    const std::string name = "/positive_threshold_" + shortest_text(t);
    const symbol positive = greater_equal(probabilities, number_like(probabilities, t, at), at);
    to["accuracy" + name] = metrics::accuracy(labels, cast(positive, labels.type(), at), weighted, at);
    to["precision" + name] = element_of(metrics::precision_at_thresholds(labels, probabilities, {t}, weighted, at), 0);
    to["recall" + name] = element_of(metrics::recall_at_thresholds(labels, probabilities, {t}, weighted, at), 0);
  }
}

void add_curves(std::map<std::string, metric>& to, const std::string& suffix, symbol labels, symbol probabilities,
                symbol weights, std::source_location at) {
  using metrics::curve, metrics::summation;
  const auto area = [&](curve of) {
    return metrics::auc(labels, probabilities,
                        {.weights = weights, .curve = of, .summation = summation::careful_interpolation}, at);
  };
  to["auc" + suffix] = area(curve::roc);
  to["auc_precision_recall" + suffix] = area(curve::pr);
}

}  // namespace troupe
