#include "models/dense_layers.hpp"

#include <troupe/vocabulary.hpp>

namespace troupe {

namespace {

tl::unexpected<error> refuse(const std::string& model, const std::string& what) { return fail(errc::invalid_argument, model + ": " + what); }

/// x reshaped to [batch, n].
symbol flattened(graph& g, const std::string& model, const std::string& name, symbol x) {
  if (!x.valid())
    return x;
  if (x.type() != dtype::float32)
    return g.invalid({errc::type, model + ": feature '" + name + "' must be float32, not " + std::string{to_string(x.type())}});
  return x.rank() == 2 ? x : reshape(x, {x.dims()[0], extent{-1}});
}

symbol no_features(graph& g, const std::string& model) {
  return g.invalid({errc::invalid_argument, model + ": the data have no features"});
}

symbol side_by_side(graph& g, const std::string& model, const features& x) {
  if (x.empty())
    return no_features(g, model);
  std::vector<symbol> inputs;
  for (const auto& [name, feature] : x.all())
    inputs.push_back(flattened(g, model, name, feature));
  return concat(inputs);
}

}  // namespace

expected<void> check_layers(const std::string& model, const dnn_layers& layers) {
  for (size_t i = 0; i < layers.hidden_units.size(); ++i)
    if (layers.hidden_units[i] < 1)
      return refuse(model, "hidden_units[" + std::to_string(i) + "] must be at least 1, not " + std::to_string(layers.hidden_units[i]));
  if (!(layers.dropout >= 0 && layers.dropout < 1))
    return refuse(model, "dropout must be in [0, 1), not " + std::to_string(layers.dropout));
  return {};
}

symbol input_of(graph& g, const std::string& model, const features& x) {
  if (x.all().size() == 1)
    if (const symbol only = x.all().begin()->second; only.valid() && only.type() == dtype::float32 && only.rank() > 1)
      return only;
  return side_by_side(g, model, x);
}

symbol dnn_logits(graph& g, const std::string& model, const features& x, const dnn_layers& layers, int64_t units, mode m) {
  symbol h = side_by_side(g, model, x);
  const auto scope = g.scope("dnn");
  for (size_t i = 0; i < layers.hidden_units.size(); ++i) {
    const std::string number = std::to_string(i), name = "hiddenlayer_" + number;
    h = nn::dense(h, {.units = layers.hidden_units[i], .activation = layers.activation, .name = name});
    if (layers.dropout > 0)
      h = dropout(h, layers.dropout, m == mode::train);
    if (layers.batch_norm)
      h = nn::batch_norm(h, m == mode::train, {.momentum = 0.999, .name = name + "/batchnorm_" + number});
  }
  return nn::dense(h, {.units = units, .name = "logits"});
}

symbol linear_logits(graph& g, const std::string& model, const features& x, int64_t units) {
  if (x.empty())
    return no_features(g, model);
  const auto scope = g.scope("linear");
  const auto inner = g.scope("linear_model");
  symbol sum;
  for (const auto& [name, feature] : x.all()) {
    const symbol flat = flattened(g, model, name, feature);
    if (!flat.valid())
      return flat;
    const symbol weights = g.variable({.name = name + "/weights", .dims = {flat.dims()[1].coefficient, units}});
    const symbol term = matmul(flat, weights);
    sum = sum.valid() ? sum + term : term;
  }
  return sum + g.variable({.name = "bias_weights", .dims = {units}});
}

expected<int64_t> classes_of(const std::string& model, int64_t classes, const std::vector<std::string>& vocabulary) {
  if (vocabulary.empty() && classes < 2)
    return refuse(model, "classes must be at least 2, not " + std::to_string(classes));
  if (vocabulary.empty())
    return classes;
  if (auto valid = validate_vocabulary(vocabulary); !valid)
    return refuse(model, valid.error().message);
  const auto words = static_cast<int64_t>(vocabulary.size());
  if (words < 2)
    return refuse(model, "the vocabulary must have at least 2 words, not " + std::to_string(words));
  if (classes != 0 && classes != words)
    return refuse(model, std::to_string(classes) + " classes cannot be called by the " + std::to_string(words) + " words of the vocabulary");
  return words;
}

std::map<std::string, text_prediction> class_texts(const std::vector<std::string>& vocabulary) {
  if (vocabulary.empty())
    return {};
  return {{"classes", {"class", vocabulary}}};
}

model_spec refused_spec(graph& g, error e, std::source_location at) {
  g.invalid(std::move(e), at);
  return {};
}

}  // namespace troupe
