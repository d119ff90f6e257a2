#include "compute/graph/graph.hpp"
#include "models/network_parts.hpp"

#include <troupe/nn.hpp>
#include <troupe/sequential.hpp>

namespace troupe {

namespace {

// -- layers ------------------------------------------------------------------------

symbol apply(const layer::conv2d& l, symbol x, mode) { return nn::conv2d(x, l); }
symbol apply(const layer::conv2d_transpose& l, symbol x, mode) { return nn::conv2d_transpose(x, l); }
symbol apply(const layer::depthwise_conv2d& l, symbol x, mode) { return nn::depthwise_conv2d(x, l); }
symbol apply(const layer::separable_conv2d& l, symbol x, mode) { return nn::separable_conv2d(x, l); }
symbol apply(const layer::max_pool& l, symbol x, mode) { return nn::max_pool(x, l); }
symbol apply(const layer::average_pool& l, symbol x, mode) { return nn::average_pool(x, l); }
symbol apply(const layer::global_max_pool&, symbol x, mode) { return nn::global_max_pool(x); }
symbol apply(const layer::global_average_pool&, symbol x, mode) { return nn::global_average_pool(x); }
symbol apply(const layer::flatten&, symbol x, mode) { return nn::flatten(x); }
symbol apply(const layer::dense& l, symbol x, mode) { return nn::dense(x, l); }
symbol apply(const layer::dropout& l, symbol x, mode m) { return nn::dropout(x, m == mode::train, l); }
symbol apply(const layer::batch_norm& l, symbol x, mode m) { return nn::batch_norm(x, m == mode::train, l); }
symbol apply(const layer::layer_norm& l, symbol x, mode) { return nn::layer_norm(x, l); }
symbol apply(const layer::activation& l, symbol x, mode) {
  return l.function ? l.function(x, std::source_location::current()) : x;
}

// -- the model ---------------------------------------------------------------------

std::string text_of(const std::vector<int64_t>& dims) { return to_text(shape{std::span<const int64_t>{dims}}); }

/// x reshaped to [batch] and `dims`; unchanged if `dims` is empty.
symbol taken_as(graph& g, const std::string& name, symbol x, const std::vector<int64_t>& dims) {
  if (dims.empty() || !x.valid())
    return x;
  if (dims.size() >= static_cast<size_t>(shape::max_rank))
    return g.invalid(
        {errc::invalid_argument, name + ": input_shape can have 7 axes, not " + std::to_string(dims.size())});
  std::optional<int64_t> elements = 1;
  symbol_shape whole{x.dims()[0]};
  for (const int64_t e : dims) {
    if (e < 1)
      return g.invalid(
          {errc::invalid_argument, name + ": input_shape must be at least 1 on every axis, not " + text_of(dims)});
    elements = elements ? product_within_limit(*elements, e) : elements;
    whole.emplace_back(e);
  }
  const auto there = known_elements({x.dims().begin() + 1, x.dims().end()});
  if (there && elements != there)
    return g.invalid({errc::invalid_argument, name + ": an input_shape of " + text_of(dims) + " does not hold the "
                                                  + std::to_string(*there) + " numbers of an example"});
  return reshape(x, std::move(whole));
}

/// Adds one layer. If this causes the graph's first error, puts the layer in front of its message.
symbol with_layer(graph& g, const sequential_layers_options& o, size_t i, symbol x, mode m) {
  if (!x.valid() || !g.status())
    return symbol_of(g, -1);
  const symbol y = std::visit([&](const auto& l) { return apply(l, x, m); }, o.layers[i]);
  if (auto& e = contents_of(g).first_error; e)
    e->message = (i < o.places.size() ? o.places[i] : o.name + ": layers[" + std::to_string(i) + "]") + " ("
                 + std::string{name_of(o.layers[i])} + "): " + e->message;
  return g.status() ? y : symbol_of(g, -1);
}

model listed(const std::string& name, sequential_model_options o, std::source_location at) {
  return headed_model(
      name, std::move(o.head),
      [parts = sequential_layers_options{std::move(o.layers), std::move(o.input_shape), name, std::move(o.places)},
       by = std::move(o.optimizer)](graph& g, const features& x, int64_t logits, mode m) {
        const symbol y = sequential_layers(g, x, parts, m);
        return network{y.valid() ? nn::dense(nn::flatten(y), {.units = logits, .name = "logits"}) : y, by};
      },
      at);
}

}  // namespace

std::string_view name_of(const sequential_layer& layer) noexcept {
  static constexpr std::array<std::string_view, std::variant_size_v<sequential_layer>> names{
      "conv2d",       "conv2d_transpose", "depthwise_conv2d",    "separable_conv2d", "max_pool",
      "average_pool", "global_max_pool",  "global_average_pool", "flatten",          "dense",
      "dropout",      "batch_norm",       "layer_norm",          "activation"};
  return names[layer.index()];
}

symbol sequential_layers(graph& g, const features& x, const sequential_layers_options& o, mode m) {
  if (o.layers.size() > listed_max)
    return g.invalid({errc::invalid_argument, o.name + ": layers can be " + std::to_string(listed_max) + ", not "
                                                  + std::to_string(o.layers.size())});
  symbol y = taken_as(g, o.name, input_of(g, o.name, x), o.input_shape);
  for (size_t i = 0; i < o.layers.size(); ++i)
    y = with_layer(g, o, i, y, m);
  return y;
}

model sequential_model(sequential_model_options options, std::source_location at) {
  return listed("sequential_model", std::move(options), at);
}

model sequential_classifier(sequential_classifier_options o, std::source_location at) {
  const multi_class_head classes{.classes = o.classes,
                                 .vocabulary = std::move(o.vocabulary),
                                 .label_smoothing = o.label_smoothing,
                                 .confusion_matrix = o.confusion_matrix};
  return listed("sequential_classifier",
                {.layers = std::move(o.layers),
                 .head = classes,
                 .input_shape = std::move(o.input_shape),
                 .optimizer = std::move(o.optimizer),
                 .places = std::move(o.places)},
                at);
}

}  // namespace troupe
