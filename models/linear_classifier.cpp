#include "models/dense_layers.hpp"

namespace troupe {

namespace {

constexpr const char* name = "linear_classifier";

model_spec build(const linear_classifier_options& o, graph& g, const features& x, const labels& y, mode m, std::source_location at) {
  const auto classes = classes_of(name, o.classes, o.vocabulary);
  if (!classes)
    return refused_spec(g, classes.error(), at);
  const symbol logits = linear_logits(g, name, x, *classes);
  return multi_class_head(*classes, o.label_smoothing).spec(g, {.mode = m, .logits = logits, .labels = y, .optimizer = o.optimizer}, at);
}

}  // namespace

model linear_classifier(linear_classifier_options options, std::source_location at) {
  auto texts = class_texts(options.vocabulary);
  return {name, [o = std::move(options), at](graph& g, const features& x, const labels& y, mode m) { return build(o, g, x, y, m, at); }, std::move(texts), at};
}

}  // namespace troupe
