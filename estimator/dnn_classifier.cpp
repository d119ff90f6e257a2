#include <troupe/model.hpp>

namespace troupe {

namespace {

expected<void> check_options(const dnn_classifier_options& o) {
  const auto refuse = [](const std::string& what) { return fail(errc::invalid_argument, "dnn_classifier: " + what); };
  if (o.classes < 2)
    return refuse("classes must be at least 2, not " + std::to_string(o.classes));
  for (size_t i = 0; i < o.hidden_units.size(); ++i)
    if (o.hidden_units[i] < 1)
      return refuse("hidden_units[" + std::to_string(i) + "] must be at least 1, not " + std::to_string(o.hidden_units[i]));
  if (!(o.dropout >= 0 && o.dropout < 1))
    return refuse("dropout must be in [0, 1), not " + std::to_string(o.dropout));
  return validate(o.optimizer);
}

/// The only feature as [batch, n].
symbol flattened(graph& g, const features& x) {
  const symbol only = x.only();
  if (!only.valid())
    return only;
  if (only.type() != dtype::float32)
    return g.invalid({errc::type, "dnn_classifier: feature '" + x.all().begin()->first + "' must be float32, not " + std::string{to_string(only.type())}});
  return only.rank() == 2 ? only : reshape(only, {only.dims()[0], extent{-1}});
}

model_spec build(const dnn_classifier_options& o, graph& g, const features& x, const labels& y, mode m) {
  if (auto ok = check_options(o); !ok) {
    g.invalid(ok.error());
    return {.mode = m};
  }
  const bool training = m == mode::train;
  symbol h = flattened(g, x);
  {
    const auto scope = g.scope("dnn");
    for (size_t i = 0; i < o.hidden_units.size(); ++i) {
      h = nn::dense(h, {.units = o.hidden_units[i], .activation = o.activation, .name = "hiddenlayer_" + std::to_string(i)});
      if (o.dropout > 0)
        h = dropout(h, o.dropout, training);
    }
    h = nn::dense(h, {.units = o.classes, .name = "logits"});
  }
  const symbol classes = m == mode::predict ? symbol{} : y.only();
  return multi_class_head(o.classes).spec(g, {.mode = m, .logits = h, .labels = classes, .optimizer = o.optimizer});
}

}  // namespace

model dnn_classifier(dnn_classifier_options options) {
  return {"dnn_classifier", [o = std::move(options)](graph& g, const features& x, const labels& y, mode m) { return build(o, g, x, y, m); }};
}

}  // namespace troupe
