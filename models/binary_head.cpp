// Two classes from one logit.
#include "models/head_parts.hpp"

namespace troupe {

namespace {

constexpr const char* binary_name = "binary_head";

std::map<std::string, symbol> predictions_of(symbol logits, std::source_location at) {
  const symbol positive = sigmoid(logits, at), negative = sigmoid(neg(logits, at), at);
  const symbol above = greater(logits, number_like(logits, 0, at), at);
  return {{"logits", logits},
          {"logistic", positive},
          {"probabilities", concat({negative, positive}, -1, at)},
          {"class_ids", reshape(cast(above, dtype::int64, at), {logits.dims()[0]}, at)}};
}

model_spec offered(std::map<std::string, symbol> p, std::source_location at) {
  auto outputs = with_predictions({{"classification", {{"class_ids", p["class_ids"]}, {"scores", p["probabilities"]}}},
                                   {"regression", {{"outputs", p["logistic"]}}}});
  return {.predictions = std::move(p), .export_outputs = std::move(outputs), .at = at};
}

/// The weight of each row's class, interpolated for a label between 0 and 1.
symbol weights_of_classes(const binary_head& h, symbol labels, std::source_location at) {
  if (h.class_weights.empty())
    return {};
  return add(scale(labels, h.class_weights[1] - h.class_weights[0], at), number_like(labels, h.class_weights[0], at),
             at);
}

model_spec build_binary(const binary_head& h, graph& g, const head_spec_options& o, std::source_location at) {
  const symbol logits = o.logits;
  if (o.mode == mode::predict)
    return offered(predictions_of(logits, at), at);

  const symbol labels = labels_like_logits(g, binary_name, o, 0, 1, at),
               weights = weights_of_examples(g, binary_name, h.weight_feature, o, at);
  if (!labels.valid())
    return {.at = at};
  const symbol each = losses::sigmoid_cross_entropy(
      labels, logits, {.reduce = losses::reduction::none, .label_smoothing = h.label_smoothing}, at);
  const symbol of_losses = times(weights, weights_of_classes(h, labels, at), at);
  model_spec made{.loss = reduced(each, of_losses, h.loss_reduction, at), .at = at};
  const metrics::options weighted{.weights = weights};
  const symbol positive = sigmoid(logits, at),
               chosen = cast(greater(logits, number_like(logits, 0, at), at), labels.type(), at);
  made.metrics = {{"accuracy", metrics::accuracy(labels, chosen, weighted, at)},
                  {"accuracy_baseline", metrics::accuracy_baseline(labels, weighted, at)},
                  {"average_loss", metrics::mean(each, {.weights = of_losses}, at)},
                  {"label/mean", metrics::mean(labels, weighted, at)},
                  {"precision", metrics::precision(labels, chosen, weighted, at)},
                  {"prediction/mean", metrics::mean(positive, weighted, at)},
                  {"recall", metrics::recall(labels, chosen, weighted, at)}};
  add_curves(made.metrics, "", labels, positive, weights, at);
  if (h.confusion_matrix && o.mode == mode::evaluate) {
    const symbol known = not_equal(labels, number_like(labels, 0, at), at);
    made.metrics["confusion_matrix"] = metrics::confusion_matrix(cast(known, dtype::int64, at),
                                                                 cast(chosen, dtype::int64, at), 2, weighted, at);
  }
  add_threshold_metrics(made.metrics, h.thresholds, labels, positive, weights, at);
  return made;
}

}  // namespace

binary_head::operator head() const {
  auto made = made_head(
      *this, 1,
      first_of({check_classes(binary_name, 2, vocabulary, class_weights),
                check_once(binary_name, "thresholds", thresholds), check_reduction(binary_name, loss_reduction)}),
      build_binary);
  if (!vocabulary.empty())
    made.texts = {{"classes", {"class_ids", vocabulary}}};
  return made;
}

}  // namespace troupe
