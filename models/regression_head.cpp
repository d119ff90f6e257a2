#include <troupe/model.hpp>

#include "compute/graph/graph.hpp"

namespace troupe {

model_spec regression_head::spec(graph& g, const head_spec_options& options, std::source_location at) const {
  model_spec result{.mode = options.mode, .optimizer = options.optimizer, .at = at};
  const symbol logits = options.logits;
  const auto refuse = [&](const std::string& what) {
    g.invalid({errc::invalid_argument, what}, at);
    return result;
  };
  if (dimension_ < 1)
    return refuse("a regression_head needs a label_dimension of at least 1, not " + std::to_string(dimension_));
  if (!logits.valid())
    return result;  // The graph has the reason.
  if (logits.rank() != 2 || logits.dims()[1] != extent{dimension_})
    return refuse("the logits of a regression_head must be [batch, " + std::to_string(dimension_) + "], not " + to_string(g, logits.dims()));
  if (options.mode == mode::predict) {
    result.predictions = {{"predictions", logits}};
    return result;
  }

  symbol labels = options.labels.get(at);
  if (!labels.valid())
    return result;
  if (labels.rank() == 1 && dimension_ == 1)
    labels = reshape(labels, symbol_shape{logits.dims()}, at);
  if (labels.valid() && labels.dims() != logits.dims())
    return refuse("the labels of a regression_head must be " + to_string(g, logits.dims())
                  + (dimension_ == 1 ? " or [batch]" : "") + ", not " + to_string(g, labels.dims()));
  labels = cast(is_floating(labels.type()) ? check_numerics(labels, "labels", at) : labels, logits.type(), at);
  const symbol errors = square(sub(logits, labels, at), at);
  result.loss = reduce_mean(errors, {}, at);
  const symbol count = reduce_sum(fill(g, 1, logits.type(), symbol_shape{logits.dims()}, at), {}, at);
  const auto mean = [&](symbol x) { return ratio_metric{reduce_sum(x, {}, at), count}; };
  result.metrics = {{"average_loss", mean(errors)}, {"label/mean", mean(labels)}, {"prediction/mean", mean(logits)}};
  return result;
}

}  // namespace troupe
