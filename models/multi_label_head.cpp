// A head with a sigmoid for each of several classes.
#include "models/head_parts.hpp"

namespace troupe {

namespace {

constexpr const char* multi_label_name = "multi_label_head";

std::string name_of_class(const multi_label_head& h, int64_t i) {
  return "/" + (h.vocabulary.empty() ? "class" + std::to_string(i) : h.vocabulary[static_cast<size_t>(i)]);
}

model_spec build_multi_label(const multi_label_head& h, graph& g, const head_spec_options& o, std::source_location at) {
  const symbol logits = o.logits;
  if (o.mode == mode::predict) {
    const symbol probabilities = sigmoid(logits, at);
    return {.predictions = {{"logits", logits}, {"probabilities", probabilities}},
            .export_outputs = with_predictions({{"classification", {{"scores", probabilities}}}}),
            .at = at};
  }

  const symbol labels = labels_like_logits(g, multi_label_name, o, 0, 1, at),
               weights = weights_of_examples(g, multi_label_name, h.weight_feature, o, at);
  if (!labels.valid())
    return {.at = at};
  symbol each = losses::sigmoid_cross_entropy(
      labels, logits, {.reduce = losses::reduction::none, .label_smoothing = h.label_smoothing}, at);
  if (!h.class_weights.empty() && each.valid())
    each = mul(each, row_like(each, h.class_weights, at), at);
  const symbol of_rows = reduce_mean(each, {.axes = {-1}, .keep = true}, at);
  model_spec made{.loss = reduced(of_rows, weights, h.loss_reduction, at), .at = at};
  const symbol likely = sigmoid(logits, at);
  made.metrics = {{"average_loss", metrics::mean(of_rows, {.weights = weights}, at)}};
  add_curves(made.metrics, "", labels, likely, weights, at);
  add_threshold_metrics(made.metrics, h.thresholds, labels, likely, weights, at);
  for (const int64_t i : h.class_metrics) {
    const auto suffix = name_of_class(h, i);
    const symbol of_labels = slice(labels, 1, i, 1, at), of_class = slice(likely, 1, i, 1, at);
    made.metrics["probability_mean" + suffix] = metrics::mean(of_class, {.weights = weights}, at);
    add_curves(made.metrics, suffix, of_labels, of_class, weights, at);
  }
  return made;
}

std::optional<error> check_class_metrics(const multi_label_head& h) {
  std::vector<double> numbers;
  for (const int64_t i : h.class_metrics) {
    if (i >= h.classes)
      return wrong_option(multi_label_name, "class_metrics must be below the number of classes, "
                                                + std::to_string(h.classes) + ", not " + std::to_string(i));
    numbers.push_back(static_cast<double>(i));
  }
  return check_once(multi_label_name, "class_metrics", numbers);
}

}  // namespace

multi_label_head::operator head() const {
  auto o = *this;
  o.classes = classes_of(classes, vocabulary);
  auto wrong = first_of({check_classes(multi_label_name, o.classes, vocabulary, {}),
                         check_once(multi_label_name, "thresholds", thresholds),
                         check_reduction(multi_label_name, loss_reduction)});
  if (!wrong && o.classes >= 2)
    wrong = first_of({check_classes(multi_label_name, o.classes, {}, class_weights), check_class_metrics(o)});
  return made_head(o, o.classes, std::move(wrong), build_multi_label);
}

}  // namespace troupe
