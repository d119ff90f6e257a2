// Ready-made generators.
#include "compute/parameters/initializers.hpp"
#include "ensemble/names.hpp"
#include "words/text.hpp"

#include <troupe/nn.hpp>
#include <troupe/search/generators.hpp>
#include <troupe/sequential.hpp>

#include <charconv>
#include <cmath>

namespace troupe::generators {

namespace {

/// A generator's wrong option: it throws, and the search makes an error of it.
[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

void check_count(const char* option, int64_t value, int64_t least) {
  if (value < least)
    refuse(std::string{option} + " must be at least " + std::to_string(least) + ", not " + std::to_string(value));
}

// -- features ----------------------------------------------------------------------------

/// All features of these names, in the order of the names, each flattened, side by side. Empty names: all features.
symbol input_of(graph& g, const std::string& builder, const features& x, std::vector<std::string> names) {
  if (names.empty())
    for (const auto& [name, value] : x.all())
      names.push_back(name);
  if (names.empty())
    return g.invalid({errc::invalid_argument, "the builder " + quoted(builder) + " has no features to read"});
  std::vector<symbol> inputs;
  for (const auto& name : names) {
    const symbol value = x[name];
    if (!value.valid())
      return value;
    if (value.type() != dtype::float32)
      return g.invalid({errc::type, "the builder " + quoted(builder) + ": feature " + quoted(name)
                                        + " must be float32, not " + std::string{to_string(value.type())}});
    inputs.push_back(value.rank() == 2 ? value : reshape(value, {value.dims()[0], extent{-1}}));
  }
  return inputs.size() == 1 ? inputs.front() : concat(inputs);
}

// -- dense networks ------------------------------------------------------------------------

/// glorot_uniform, drawn by a seed of the generator, not of the run. `name` is that of the variable in its subnetwork.
initializer drawn(uint64_t seed, const std::string& name, const shape& dims) {
  const parameter_entry entry{.name = name, .dims = dims, .initial = init::glorot_uniform()};
  std::vector<float> values(static_cast<size_t>(dims.elements()));
  initialise(entry, seed, reinterpret_cast<std::byte*>(values.data()));
  return init::values(tensor::of<float>(dims, std::span<const float>{values}));
}

std::string dnn_name(int64_t layers) { return layers == 0 ? "linear" : std::to_string(layers) + "_layer_dnn"; }

subnetwork build_dnn(graph& g, const simple_dnn_options& o, int64_t layers, const build_context& c) {
  const auto dense = [&](symbol x, int64_t units, activation a, const std::string& name) {
    if (!x.valid())
      return x;
    const auto kernel = o.seed ? drawn(*o.seed + static_cast<uint64_t>(c.iteration), name + "/kernel",
                                       {x.dims()[1].coefficient, units})
                               : init::glorot_uniform();
    return nn::dense(x, {.units = units, .activation = a, .kernel = kernel, .name = name});
  };
  symbol h = input_of(g, dnn_name(layers), c.features, o.features);
  for (int64_t i = 0; i < layers; ++i) {
    h = dense(h, o.layer_size, relu, "hidden_" + std::to_string(i));
    if (o.dropout > 0)
      h = dropout(h, o.dropout, c.training());
  }
  const double complexity = std::sqrt(static_cast<double>(layers));
  g.scalar("complexity", g.constant(tensor::scalar(static_cast<float>(complexity))));
  g.scalar("num_layers", g.constant(tensor::scalar(static_cast<float>(layers))));
  return {.last_layer = h,
          .logits = dense(h, c.logits_dimension, nullptr, "logits"),
          .complexity = complexity,
          .shared = layers};
}

builder dnn_builder(const simple_dnn_options& o, int64_t layers) {
  return {.name = dnn_name(layers),
          .build = [o, layers](graph& g, const build_context& c) { return build_dnn(g, o, layers, c); },
          .optimizer = o.optimizer};
}

/// The hidden layers of a network of this name; absent for other names.
std::optional<int64_t> layers_of(std::string_view name) {
  if (name == dnn_name(0))
    return 0;
  int64_t layers = 0;
  const auto end = std::from_chars(name.data(), name.data() + name.size(), layers).ptr;
  return layers > 0 && name == dnn_name(layers) && end != name.data() ? std::optional{layers} : std::nullopt;
}

int64_t newest_depth(const simple_dnn_options& o, const generator_input& in) {
  if (!in.previous)
    return o.initial_num_layers;
  const auto& newest = in.previous->members.back().builder;
  if (const auto layers = layers_of(newest))
    return *layers;
  refuse("simple_dnn goes on from the depth of the newest member, and cannot tell that of '" + newest + "'");
}

// -- a convolution -------------------------------------------------------------------------

/// The only feature as [batch, height, width, channels].
symbol image_of(graph& g, const std::string& builder, const features& x, const std::vector<int64_t>& input_shape) {
  symbol image = x.only();
  if (!image.valid())
    return image;
  if (!input_shape.empty())
    image = sequential_layers(g, x, {.input_shape = input_shape, .name = "the builder " + quoted(builder)},
                              mode::predict);
  if (!image.valid())
    return image;
  if (image.type() != dtype::float32 || image.rank() < 3 || image.rank() > 4)
    return g.invalid({errc::invalid_argument, "the builder " + quoted(builder)
                                                  + " needs float32 images [height, width] or [height, width, "
                                                    "channels] (see input_shape), not "
                                                  + std::string{to_string(image.type())} + " of rank "
                                                  + std::to_string(image.rank() - 1)});
  return image.rank() == 3 ? expand_dims(image, -1) : image;
}

subnetwork build_cnn(graph& g, const simple_cnn_options& o, const build_context& c) {
  const symbol image = image_of(g, o.name, c.features, o.input_shape);
  if (!image.valid())
    return {};
  const symbol filtered = nn::conv2d(image, {.filters = o.filters,
                                             .kernel_size = {3, 3},
                                             .padding = padding::same,
                                             .activation = relu,
                                             .kernel = init::he_normal()});
  const symbol flat = nn::flatten(nn::max_pool(filtered));
  const symbol h = nn::dense(flat, {.units = o.units, .activation = relu, .kernel = init::he_normal()});
  return {.last_layer = h,
          .logits = nn::dense(h, {.units = c.logits_dimension, .kernel = init::he_normal(), .name = "logits"}),
          .complexity = 1};
}

}  // namespace

generator list(std::vector<builder> builders) {
  return [builders = std::move(builders)](const generator_input&) { return builders; };
}

generator simple_dnn(simple_dnn_options options) {
  return [o = std::move(options)](const generator_input& in) -> std::vector<builder> {
    check_count("simple_dnn: layer_size", o.layer_size, 1);
    check_count("simple_dnn: initial_num_layers", o.initial_num_layers, 0);
    if (!(o.dropout >= 0 && o.dropout < 1))
      refuse("simple_dnn: dropout must be in [0, 1), not " + shortest_text(o.dropout));
    const auto depth = newest_depth(o, in);
    return {dnn_builder(o, depth), dnn_builder(o, depth + 1)};
  };
}

generator simple_cnn(simple_cnn_options options) {
  return [o = std::move(options)](const generator_input&) -> std::vector<builder> {
    check_count("simple_cnn: filters", o.filters, 1);
    check_count("simple_cnn: units", o.units, 1);
    return {{.name = o.name,
             .build = [o](graph& g, const build_context& c) { return build_cnn(g, o, c); },
             .optimizer = o.optimizer}};
  };
}

generator linear(linear_options options) {
  return [o = std::move(options)](const generator_input&) -> std::vector<builder> {
    return {{.name = o.name,
             .build = [o](graph& g, const build_context& c) -> subnetwork {
               const symbol x = input_of(g, o.name, c.features, o.features);
               return {.last_layer = x,
                       .logits = nn::dense(x, {.units = c.logits_dimension, .kernel = init::zeros(), .name = "logits"}),
                       .complexity = 0};
             },
             .optimizer = o.optimizer}};
  };
}

}  // namespace troupe::generators
