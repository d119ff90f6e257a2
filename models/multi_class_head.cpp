// A head with softmax cross-entropy, and weights of examples and of classes.
#include "models/head_parts.hpp"

namespace troupe {

namespace {

/// The rows' classes as [batch].
symbol classes_of_rows(const head_spec_options& o, std::source_location at) {
  const symbol classes = o.labels.get(at);
  return classes.rank() == 2 && classes.dims()[1] == extent{1} ? reshape(classes, {classes.dims()[0]}, at) : classes;
}

/// The weight of each row's class, [batch]. A label that is no class gets the weight of the nearest one; the loss
/// reports it.
symbol weights_of_classes(const multi_class_head& h, graph& g, symbol classes, symbol logits, std::source_location at) {
  if (h.class_weights.empty() || !classes.valid())
    return {};
  const symbol all = reshape(row_like(logits, h.class_weights, at), {extent{h.classes}}, at),
               index = cast(classes, dtype::int64, at);
  const symbol least = g.constant(tensor::scalar<int64_t>(0), at),
               greatest = g.constant(tensor::scalar<int64_t>(h.classes - 1), at);
  return gather(all, minimum(maximum(index, least, at), greatest, at), 0, at);
}

/// Metrics without weights. Their sums stay in the dtype of the losses, so that golden jobs keep their bits.
std::map<std::string, metric> plain_metrics(symbol classes, symbol logits, symbol each, std::source_location at) {
  const symbol rows = reduce_sum(cast(equal(classes, classes, at), dtype::float32, at), {}, at);
  const symbol right = cast(equal(argmax(logits, -1, at), cast(classes, dtype::int64, at), at), dtype::float32, at);
  return {{"accuracy", ratio_metric{reduce_sum(right, {}, at), rows}},
          {"average_loss", ratio_metric{reduce_sum(each, {}, at), rows}}};
}

model_spec build_multi_class(const multi_class_head& h, graph& g, const head_spec_options& o, std::source_location at) {
  const symbol logits = o.logits;
  if (o.mode == mode::predict) {
    const symbol probabilities = softmax(logits, at), ids = argmax(logits, -1, at);
    return {.predictions = {{"logits", logits}, {"probabilities", probabilities}, {"class_ids", ids}},
            .export_outputs = with_predictions({{"classification", {{"class_ids", ids}, {"scores", probabilities}}}}),
            .at = at};
  }

  const symbol classes = classes_of_rows(o, at);
  const symbol column = weights_of_examples(g, "multi_class_head", h.weight_feature, o, at);
  const symbol weights = column.valid() ? reshape(column, {column.dims()[0]}, at) : column;
  const symbol each = losses::sparse_softmax_cross_entropy(
      classes, logits, {.reduce = losses::reduction::none, .label_smoothing = h.label_smoothing}, at);
  const symbol of_losses = times(weights, weights_of_classes(h, g, classes, logits, at), at);
  model_spec made{.loss = reduced(each, of_losses, h.loss_reduction, at), .at = at};
  if (!each.valid())
    return made;
  if (!of_losses.owner())
    made.metrics = plain_metrics(classes, logits, each, at);
  else
    made.metrics = {{"accuracy", metrics::accuracy(cast(classes, dtype::int64, at), argmax(logits, -1, at),
                                                   {.weights = weights}, at)},
                    {"average_loss", metrics::mean(each, {.weights = of_losses}, at)}};
  if (h.confusion_matrix && o.mode == mode::evaluate)
    made.metrics["confusion_matrix"] = metrics::confusion_matrix(
        cast(classes, dtype::int64, at), argmax(logits, -1, at), h.classes, {.weights = weights}, at);
  return made;
}

}  // namespace

multi_class_head::operator head() const {
  auto o = *this;
  o.classes = classes_of(classes, vocabulary);
  const auto name = name_of(o);
  auto wrong = first_of({check_classes(name, o.classes, vocabulary, {}), check_reduction(name, loss_reduction),
                         check_confusion_matrix(name, confusion_matrix, o.classes)});
  if (!wrong && o.classes >= 2)
    wrong = check_classes(name, o.classes, {}, class_weights);
  auto made = made_head(o, o.classes, std::move(wrong), build_multi_class);
  if (!vocabulary.empty())
    made.texts = {{"classes", {"class_ids", vocabulary}}};
  return made;
}

}  // namespace troupe
