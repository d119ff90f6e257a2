#include "examples/paper/objective.hpp"

#include <troupe/metrics.hpp>

#include <cmath>

namespace paper {

double surrogate(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double surrogate_slope(double x) { return 1 / (1 + std::exp(-x)); }

tr::symbol signs(tr::symbol labels) { return 2 * tr::reshape(labels, {tr::extent{-1}, 1}) - 1; }

tr::symbol surrogate_loss(tr::symbol labels, tr::symbol f) {
  return tr::reduce_mean(tr::softplus(1 - signs(labels) * f));
}

tr::head paper_head() {
  tr::head head;
  head.name = "paper_head";
  head.logits = 1;
  head.build = [](tr::graph& g, const tr::head_spec_options& o, std::source_location) -> tr::model_spec {
    const tr::symbol zero = g.constant(tr::tensor::scalar(0.f)), above = tr::greater(o.logits, zero);
    tr::model_spec spec{
        .mode = o.mode,
        .optimizer = o.optimizer,
        .predictions = {{"logits", o.logits}, {"class_ids", tr::cast(tr::squeeze(above, {1}), tr::dtype::int64)}}};
    if (o.mode == tr::mode::predict)
      return spec;
    spec.loss = surrogate_loss(o.labels.get(), o.logits);
    if (o.mode == tr::mode::evaluate)
      spec.metrics = {{"accuracy", tr::metrics::accuracy(tr::greater(signs(o.labels.get()), zero), above)}};
    return spec;
  };
  return head;
}

double layer_complexity(int64_t layer, const complexity_options& o) {
  double result = o.input_max
                  * std::sqrt(std::log(2.0 * static_cast<double>(o.inputs)) / (2.0 * static_cast<double>(o.examples)));
  for (int64_t s = 1; s <= layer; ++s)
    result *= 2 * o.weight_norm * std::sqrt(static_cast<double>(s == 1 ? o.inputs : o.units));
  return result;
}

}  // namespace paper
