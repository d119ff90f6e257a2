#include "models/dense_layers.hpp"

namespace troupe {

namespace {

constexpr const char* name = "dnn_regressor";

model_spec build(const dnn_regressor_options& o, graph& g, const features& x, const labels& y, mode m, std::source_location at) {
  const dnn_layers layers{o.hidden_units, o.activation, o.dropout, o.batch_norm};
  if (auto ok = check_layers(name, layers); !ok)
    return refused_spec(g, ok.error(), at);
  const regression_head head{o.label_dimension};
  const symbol logits = o.label_dimension < 1 ? symbol{} : dnn_logits(g, name, x, layers, o.label_dimension, m);
  return head.spec(g, {.mode = m, .logits = logits, .labels = y, .optimizer = o.optimizer}, at);
}

}  // namespace

model dnn_regressor(dnn_regressor_options options, std::source_location at) {
  return {name, [o = std::move(options), at](graph& g, const features& x, const labels& y, mode m) { return build(o, g, x, y, m, at); }, {}, at};
}

}  // namespace troupe
