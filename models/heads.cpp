#include <troupe/losses.hpp>
#include <troupe/model.hpp>

namespace troupe {

namespace {

/// The number of rows of a batch, as a symbol.
symbol rows_of(symbol classes, std::source_location at) {
  return reduce_sum(cast(equal(classes, classes, at), dtype::float32, at), {}, at);
}

}  // namespace

model_spec multi_class_head::spec(graph& g, const head_spec_options& options, std::source_location at) const {
  model_spec result{.mode = options.mode, .optimizer = options.optimizer, .at = at};
  const symbol logits = options.logits;
  if (classes_ < 2)
    g.invalid({errc::invalid_argument, "a multi_class_head needs at least 2 classes, not " + std::to_string(classes_)}, at);
  else if (logits.valid() && (logits.rank() != 2 || logits.dims()[1] != extent{classes_}))
    g.invalid({errc::invalid_argument, "the logits of a multi_class_head of " + std::to_string(classes_) + " classes must be [batch, "
                                         + std::to_string(classes_) + "], not of rank " + std::to_string(logits.rank())
                                         + (logits.rank() > 0 && logits.dims().back().known()
                                              ? " with " + std::to_string(logits.dims().back().coefficient) + " at the end" : "")}, at);

  if (options.mode == mode::predict) {
    result.predictions = {{"class", argmax(logits, -1, at)}, {"probabilities", softmax(logits, at)}};
    return result;
  }

  symbol classes = options.labels.get(at);
  if (classes.rank() == 2 && classes.dims()[1] == extent{1})
    classes = reshape(classes, {classes.dims()[0]}, at);
  const symbol losses = losses::sparse_softmax_cross_entropy(classes, logits, {.reduce = losses::reduction::none, .label_smoothing = label_smoothing_}, at);
  result.loss = reduce_mean(losses, {}, at);
  const symbol rows = rows_of(classes, at);
  const symbol right = cast(equal(argmax(logits, -1, at), cast(classes, dtype::int64, at), at), dtype::float32, at);
  result.metrics = {{"accuracy", {reduce_sum(right, {}, at), rows}}, {"average_loss", {reduce_sum(losses, {}, at), rows}}};
  return result;
}

}  // namespace troupe
