#include "models/dense_layers.hpp"

namespace troupe {

namespace {

constexpr const char* name = "linear_regressor";

model_spec build(const linear_regressor_options& o, graph& g, const features& x, const labels& y, mode m, std::source_location at) {
  const symbol logits = o.label_dimension < 1 ? symbol{} : linear_logits(g, name, x, o.label_dimension);
  return regression_head{o.label_dimension}.spec(g, {.mode = m, .logits = logits, .labels = y, .optimizer = o.optimizer}, at);
}

}  // namespace

model linear_regressor(linear_regressor_options options, std::source_location at) {
  return {name, [o = std::move(options), at](graph& g, const features& x, const labels& y, mode m) { return build(o, g, x, y, m, at); }, {}, at};
}

}  // namespace troupe
