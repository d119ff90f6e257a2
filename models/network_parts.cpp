#include "models/network_parts.hpp"

#include <troupe/nn.hpp>

#include <algorithm>

namespace troupe {

namespace {

tl::unexpected<error> refuse(const std::string& model, const std::string& what) {
  return fail(errc::invalid_argument, model + ": " + what);
}

/// The features except those called `names`.
features without(const features& x, graph& g, const std::vector<std::string>& names) {
  auto left = x.all();
  std::erase_if(left,
                [&names](const auto& one) { return std::find(names.begin(), names.end(), one.first) != names.end(); });
  return {&g, std::move(left)};
}

/// Checks the layers. invalid_argument naming `model`, the field and its value.
expected<void> check_layers(const std::string& model, const dnn_layers& layers) {
  if (layers.hidden_units.size() > listed_max)
    return refuse(model, "hidden_units can have " + std::to_string(listed_max) + " layers, not "
                             + std::to_string(layers.hidden_units.size()));
  for (size_t i = 0; i < layers.hidden_units.size(); ++i)
    if (layers.hidden_units[i] < 1)
      return refuse(model, "hidden_units[" + std::to_string(i) + "] must be at least 1, not "
                               + std::to_string(layers.hidden_units[i]));
  if (!(layers.dropout >= 0 && layers.dropout < 1))
    return refuse(model, "dropout must be in [0, 1), not " + std::to_string(layers.dropout));
  return {};
}

/// x reshaped to [batch, n].
symbol flattened(graph& g, const std::string& model, const std::string& name, symbol x) {
  if (!x.valid())
    return x;
  if (x.type() != dtype::float32)
    return g.invalid(
        {errc::type, model + ": feature '" + name + "' must be float32, not " + std::string{to_string(x.type())}});
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

// -- models ----------------------------------------------------------------------

model headed_model(std::string name, head h, network_fn f, std::source_location at) {
  if (h.wrong)
    h.wrong->message = name + ": " + h.wrong->message;
  auto texts = h.texts;
  const auto build = [name, h = std::move(h), f = std::move(f), at](graph& g, const features& x, const labels& y,
                                                                    mode m) -> model_spec {
    if (!h.build || h.wrong) {
      g.invalid(h.wrong.value_or(error{errc::invalid_argument,
                                       name + ": head is missing, such as troupe::multi_class_head{.classes = 10}"}),
                at);
      return {.mode = m, .at = at};
    }
    const auto made = f(g, without(x, g, h.weight_features), h.logits, m);
    return h.spec(g, {.mode = m, .logits = made.logits, .labels = y, .features = x, .optimizer = made.by}, at);
  };
  return {std::move(name), build, std::move(texts), {}, at};
}

// -- layers ----------------------------------------------------------------------

symbol input_of(graph& g, const std::string& model, const features& x) {
  if (x.all().size() == 1)
    if (const symbol only = x.all().begin()->second; only.valid() && only.type() == dtype::float32 && only.rank() > 1)
      return only;
  return side_by_side(g, model, x);
}

symbol dnn_logits(graph& g, const std::string& model, const features& x, const dnn_layers& layers, int64_t units,
                  mode m) {
  if (auto right = check_layers(model, layers); !right)
    return g.invalid(right.error());
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

}  // namespace troupe
