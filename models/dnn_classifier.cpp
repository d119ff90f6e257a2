#include "models/dense_layers.hpp"

namespace troupe {

namespace {

constexpr const char* name = "dnn_classifier";

model_spec build(const dnn_classifier_options& o, graph& g, const features& x, const labels& y, mode m, std::source_location at) {
  const dnn_layers layers{o.hidden_units, o.activation, o.dropout, o.batch_norm};
  const auto classes = classes_of(name, o.classes, o.vocabulary);
  if (!classes)
    return refused_spec(g, classes.error(), at);
  if (auto ok = check_layers(name, layers); !ok)
    return refused_spec(g, ok.error(), at);
  const symbol logits = dnn_logits(g, name, x, layers, *classes, m);
  return multi_class_head(*classes, o.label_smoothing).spec(g, {.mode = m, .logits = logits, .labels = y, .optimizer = o.optimizer}, at);
}

}  // namespace

model dnn_classifier(dnn_classifier_options options, std::source_location at) {
  auto texts = class_texts(options.vocabulary);
  return {name, [o = std::move(options), at](graph& g, const features& x, const labels& y, mode m) { return build(o, g, x, y, m, at); }, std::move(texts), at};
}

}  // namespace troupe
