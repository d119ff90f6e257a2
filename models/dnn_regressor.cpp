#include "models/dense_layers.hpp"

namespace troupe {

namespace {

constexpr const char* name = "dnn_regressor";

model_spec build(const dnn_regressor_options& o, graph& g, const features& x, const labels& y, mode m) {
  const dnn_layers layers{o.hidden_units, o.activation, o.dropout, o.batch_norm};
  if (auto ok = check_layers(name, layers); !ok)
    return refused_spec(g, ok.error(), m);
  const regression_head head{o.label_dimension};
  const symbol logits = o.label_dimension < 1 ? symbol{} : dnn_logits(g, name, x, layers, o.label_dimension, m);
  return head.spec(g, {.mode = m, .logits = logits, .labels = m == mode::predict ? symbol{} : y.only(), .optimizer = o.optimizer});
}

}  // namespace

model dnn_regressor(dnn_regressor_options options) {
  return {name, [o = std::move(options)](graph& g, const features& x, const labels& y, mode m) { return build(o, g, x, y, m); }};
}

}  // namespace troupe
