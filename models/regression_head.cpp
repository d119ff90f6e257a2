// Heads for numbers and counts, whose predictions are a link function of the logits.
#include "compute/kernels/elementary.hpp"
#include "models/head_parts.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace troupe {

namespace {

constexpr double label_most = std::numeric_limits<float>::max();

/// Fields that both heads have.
struct regression {
  std::string name;
  std::string weight_feature;
  losses::reduction reduce;
};

/// The loss and metrics. `labels`, `predictions` and the losses `each` are all [batch, label_dimension].
model_spec regressed(const regression& r, graph& g, const head_spec_options& o, symbol labels, symbol predictions,
                     symbol each, std::source_location at) {
  const symbol weights = weights_of_examples(g, r.name, r.weight_feature, o, at);
  model_spec made{.loss = reduced(each, weights, r.reduce, at), .at = at};
  const metrics::options weighted{.weights = weights};
  made.metrics = {{"average_loss", metrics::mean(each, weighted, at)},
                  {"label/mean", metrics::mean(labels, weighted, at)},
                  {"prediction/mean", metrics::mean(predictions, weighted, at)}};
  return made;
}

model_spec build(const regression_head& h, graph& g, const head_spec_options& o, std::source_location at) {
  if (o.mode == mode::predict)
    return {.predictions = {{"predictions", o.logits}},
            .export_outputs = with_predictions({{"regression", {{"outputs", o.logits}}}}),
            .at = at};
  const symbol labels = labels_like_logits(g, "regression_head", o, -label_most, label_most, at);
  if (!labels.valid())
    return {.at = at};
  return regressed({"regression_head", h.weight_feature, h.loss_reduction}, g, o, labels, o.logits,
                   square(sub(o.logits, labels, at), at), at);
}

/// y·log y - y + log(2πy)/2 where y > 1, else 0: Stirling's approximation of log y!.
symbol log_factorial(symbol y, std::source_location at) {
  const symbol one = number_like(y, 1, at), zero = number_like(y, 0, at), large = greater(y, one, at);
  const symbol safe = select(large, y, one, at), log_y = log(safe, at);
  const symbol root = scale(add(log_y, number_like(y, elementary::log(2 * std::numbers::pi), at), at), 0.5, at);
  return select(large, add(sub(mul(safe, log_y, at), safe, at), root, at), zero, at);
}

model_spec build(const poisson_head& h, graph& g, const head_spec_options& o, std::source_location at) {
  const symbol logits = o.logits, means = exp(logits, at);
  if (o.mode == mode::predict)
    return {.predictions = {{"logits", logits}, {"predictions", means}},
            .export_outputs = with_predictions({{"regression", {{"outputs", means}}}}),
            .at = at};
  const symbol labels = labels_like_logits(g, "poisson_head", o, 0, label_most, at);
  if (!labels.valid())
    return {.at = at};
  symbol each = sub(means, mul(logits, labels, at), at);
  if (h.full_loss)
    each = add(each, log_factorial(labels, at), at);
  return regressed({"poisson_head", h.weight_feature, h.loss_reduction}, g, o, labels, means, each, at);
}

template <class Head>
head made_regression(const Head& h) {
  return made_head(h, h.label_dimension, check_reduction(name_of(h), h.loss_reduction),
                   [](const Head& o, graph& g, const head_spec_options& given, std::source_location at) {
                     return build(o, g, given, at);
                   });
}

}  // namespace

regression_head::operator head() const { return made_regression(*this); }
poisson_head::operator head() const { return made_regression(*this); }

}  // namespace troupe
