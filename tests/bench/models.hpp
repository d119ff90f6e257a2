// The models whose training steps and memory are measured. Public API only.
//
//   for (const auto& m : bench::models()) {
//     graph g;
//     model_spec spec = m.build(g, adam{});   // fed "x" [batch, ...] and "y", classes below m.classes
//   }
#pragma once

#include <troupe/nn.hpp>
#include <troupe/optimizer.hpp>
#include <troupe/troupe.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace troupe::bench {

struct measured_model {
  std::string name;     ///< Such as "784-128-10 b128".
  int64_t batch = 0;    ///< The value of the unknown "batch".
  int64_t classes = 0;  ///< Labels "y", int32, are in [0, classes), and so is an int32 "x".
  component x = {}, y = {};
  /// The training step of a batch. The loss is the mean cross-entropy.
  std::function<model_spec(graph&, symbol x, symbol y, const optimizer&)> of = {};

  /// The same with both placeholders.
  model_spec build(graph& g, const optimizer& o) const {
    const auto fed = [&g](const component& c) {
      symbol_shape dims{g.unknown("batch")};
      for (const int64_t n : c.dims.extents())
        dims.emplace_back(n);
      return g.placeholder(c.name, c.type, dims);
    };
    const symbol first = fed(x);
    return of(g, first, fed(y), o);
  }
};

inline model_spec classify(symbol logits, symbol y, const optimizer& o) {
  return {.mode = mode::train, .loss = reduce_mean(sparse_softmax_cross_entropy(y, logits)), .optimizer = o};
}

inline component pixels(shape dims) { return {"x", dtype::float32, std::move(dims)}; }
inline component text(const std::string& name, int64_t time) { return {name, dtype::int32, {time}}; }
inline const component label{"y", dtype::int32, {}};

/// For widths {784, 128, 10}: float32 pixels [batch, 784], relu between the layers, labels [batch].
inline measured_model dense_model(const std::vector<int64_t>& widths, int64_t batch) {
  std::string name = std::to_string(widths[0]);
  std::for_each(widths.begin() + 1, widths.end(), [&](int64_t w) { name += "-" + std::to_string(w); });
  return {name + " b" + std::to_string(batch),
          batch,
          widths.back(),
          pixels({widths[0]}),
          label,
          [widths](graph&, symbol h, symbol y, const optimizer& o) {
            for (size_t i = 1; i + 1 < widths.size(); ++i)
              h = nn::dense(h, {.units = widths[i], .activation = relu});
            return classify(nn::dense(h, {.units = widths.back()}), y, o);
          }};
}

/// `layers` residual blocks of constant width, each of a normalisation, a dense layer and gelu; 10 classes.
inline measured_model deep_model(int64_t layers, int64_t units, int64_t batch) {
  const std::string name = "deep " + std::to_string(layers) + "x" + std::to_string(units) + " b"
                           + std::to_string(batch);
  return {name, batch, 10, pixels({units}), label, [layers, units](graph&, symbol h, symbol y, const optimizer& o) {
            for (int64_t i = 0; i < layers; ++i)
              h = nn::residual(h, nn::dense(nn::layer_norm(h), {.units = units, .activation = gelu}));
            return classify(nn::dense(h, {.units = 10}), y, o);
          }};
}

/// conv 5×5×32, relu, pool 2, conv 5×5×64, relu, pool 2, dense 512, relu, dense 10; images float32 [batch, 28, 28, 1].
inline measured_model lenet(int64_t batch) {
  return {"LeNet b" + std::to_string(batch),
          batch,
          10,
          pixels({28, 28, 1}),
          label,
          [](graph& g, symbol h, symbol y, const optimizer& o) {
            int64_t channels = 1;
            for (int64_t filters : {32, 64}) {
              const auto scope = g.scope("conv");
              const symbol kernel = g.variable(
                  {.name = "kernel", .dims = {5, 5, channels, filters}, .initial = init::glorot_uniform()});
              const symbol bias = g.variable({.name = "bias", .dims = {filters}});
              h = max_pool(relu(add(conv2d(h, kernel), bias)));
              channels = filters;
            }
            h = nn::dense(reshape(h, {extent{-1}, extent{7 * 7 * channels}}), {.units = 512, .activation = relu});
            return classify(nn::dense(h, {.units = 10}), y, o);
          }};
}

constexpr int64_t characters = 64;

/// The mean cross-entropy of predicting the next character at every position of `h` [batch, time, n].
inline model_spec next_character(symbol h, symbol y, const optimizer& o) {
  const symbol logits = nn::dense(reshape(h, {extent{-1}, h.dims().back()}),
                                  {.units = characters, .name = "characters"});
  return classify(logits, reshape(y, {extent{-1}}), o);
}

/// Two LSTM layers of `units` on one-hot characters, int32 [batch, time].
inline measured_model lstm_model(int64_t units, int64_t batch, int64_t time) {
  const std::string name = "LSTM 2x" + std::to_string(units) + " b" + std::to_string(batch) + " t"
                           + std::to_string(time);
  return {name,
          batch,
          characters,
          text("x", time),
          text("y", time),
          [units](graph&, symbol x, symbol y, const optimizer& o) {
            symbol h = one_hot(x, characters);
            for (int layer = 0; layer < 2; ++layer)
              h = nn::lstm(h, {.units = units}).outputs;
            return next_character(h, y, o);
          }};
}

struct transformer_shape {
  int64_t layers = 4, units = 256, heads = 4, batch = 16, time = 64;
};

/// A causal transformer on embedded characters, int32 [batch, time], plus sinusoids of the positions. Each layer has
/// attention and a feed-forward part of four times the units, both residual with the normalisation first. A last
/// normalisation follows.
inline measured_model transformer_model(const transformer_shape& s) {
  const std::string name = "transformer " + std::to_string(s.layers) + "x" + std::to_string(s.units) + " h"
                           + std::to_string(s.heads) + " b" + std::to_string(s.batch) + " t" + std::to_string(s.time);
  return {
      name,
      s.batch,
      characters,
      text("x", s.time),
      text("y", s.time),
      [s](graph& g, symbol x, symbol y, const optimizer& o) {
        symbol h = add(nn::embedding(x, {.entries = characters, .units = s.units}), nn::sinusoids(g, s.time, s.units));
        for (int64_t layer = 0; layer < s.layers; ++layer) {
          const auto scope = g.scope("block");
          h = nn::residual(h, nn::multi_head_attention(nn::layer_norm(h), {.heads = s.heads, .causal = true}));
          h = nn::residual(h, nn::feed_forward(nn::layer_norm(h), {.hidden = 4 * s.units, .activation = gelu_tanh}));
        }
        return next_character(nn::layer_norm(h), y, o);
      }};
}

/// The rows in the tables of training steps and memory.
inline std::vector<measured_model> models() {
  return {dense_model({10, 16, 2}, 32),
          dense_model({784, 128, 10}, 32),
          dense_model({784, 128, 10}, 128),
          dense_model({784, 128, 10}, 512),
          dense_model({784, 256, 128, 10}, 128),
          dense_model({784, 1024, 1024, 10}, 256),
          lenet(64),
          lstm_model(128, 32, 32),
          transformer_model({})};
}

}  // namespace troupe::bench
