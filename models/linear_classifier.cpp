#include "models/dense_layers.hpp"

namespace troupe {

namespace {

constexpr const char* name = "linear_classifier";

model_spec build(const linear_classifier_options& o, graph& g, const features& x, const labels& y, mode m) {
  const auto classes = classes_of(name, o.classes, o.vocabulary);
  if (!classes)
    return refused_spec(g, classes.error(), m);
  const symbol logits = linear_logits(g, name, x, *classes);
  return multi_class_head(*classes, o.label_smoothing).spec(g, {.mode = m, .logits = logits, .labels = m == mode::predict ? symbol{} : y.only(), .optimizer = o.optimizer});
}

}  // namespace

model linear_classifier(linear_classifier_options options) {
  auto texts = class_texts(options.vocabulary);
  return {name, [o = std::move(options)](graph& g, const features& x, const labels& y, mode m) { return build(o, g, x, y, m); }, std::move(texts)};
}

}  // namespace troupe
