// Models of each kind that can be exported, and their features, for comparisons with other runtimes.
#pragma once

#include <troupe/troupe.hpp>

#include <limits>

namespace troupe::test {

struct predicting_model {
  std::string name;
  std::vector<component> features;  ///< The values of int32 features are below `entries`.
  std::function<std::map<std::string, symbol>(graph&, const troupe::features&)> predictions;
  int32_t entries = 1;

  troupe::model model() const {
    return {name, [f = predictions](graph& g, const troupe::features& x, const labels&, mode m) {
              return model_spec{.mode = m, .predictions = f(g, x)};
            }};
  }
};

inline std::map<std::string, symbol> classes_of(symbol logits) {
  return {{"class_ids", argmax(logits)}, {"logits", logits}, {"probabilities", softmax(logits)}};
}

inline predicting_model dense_predictor(const std::vector<int64_t>& widths) {
  std::string name = std::to_string(widths[0]);
  for (size_t i = 1; i < widths.size(); ++i)
    name += "-" + std::to_string(widths[i]);
  return {name, {{"x", dtype::float32, {widths[0]}}}, [widths](graph&, const features& x) {
            symbol h = x["x"];
            for (size_t i = 1; i + 1 < widths.size(); ++i)
              h = nn::dense(h, {.units = widths[i], .activation = relu});
            return classes_of(nn::dense(h, {.units = widths.back()}));
          }};
}

inline predicting_model lenet_predictor() {
  return {"LeNet", {{"x", dtype::float32, {28, 28, 1}}}, [](graph&, const features& x) {
            symbol h = x["x"];
            for (const int64_t filters : {32, 64})
              h = max_pool(nn::conv2d(
                  h, {.filters = filters, .kernel_size = {5, 5}, .padding = padding::same, .activation = relu}));
            h = nn::dense(reshape(h, {h.dims()[0], 7 * 7 * 64}), {.units = 512, .activation = relu});
            return classes_of(nn::dense(h, {.units = 10}));
          }};
}

/// A convolution whose strides do not divide the extents, two average poolings and a transposed convolution.
inline predicting_model pictures_predictor() {
  return {"pictures", {{"x", dtype::float32, {13, 9, 4}}}, [](graph&, const features& x) {
            symbol h = nn::conv2d(x["x"], {.filters = 8, .kernel_size = {3, 3}, .strides = {2, 2}, .activation = elu});
            h = average_pool(h, {.size = {3, 3}, .strides = {2, 2}, .padding = padding::same});
            const symbol kernel = h.owner()->variable(
                {.name = "kernel", .dims = {3, 3, 5, 8}, .initial = init::glorot_uniform()});
            h = conv2d_transpose(h, kernel, {.strides = {2, 2}});
            return std::map<std::string, symbol>{{"picture", sigmoid(h)}, {"mean", global_average_pool(h)}};
          }};
}

inline predicting_model lstm_predictor() {
  return {"LSTM",
          {{"x", dtype::int32, {12}}},
          [](graph&, const features& x) {
            symbol h = one_hot(x["x"], 20);
            for (int layer = 0; layer < 2; ++layer)
              h = nn::lstm(h, {.units = 24}).outputs;
            return classes_of(nn::dense(reshape(slice(h, 1, 11, 1), {h.dims()[0], 24}), {.units = 20}));
          },
          20};
}

inline predicting_model transformer_predictor() {
  return {"transformer",
          {{"x", dtype::int32, {16}}},
          [](graph& g, const features& x) {
            symbol h = add(nn::embedding(x["x"], {.entries = 20, .units = 32}), nn::sinusoids(g, 16, 32));
            for (int layer = 0; layer < 2; ++layer) {
              const auto scope = g.scope("block");
              h = nn::residual(h, nn::multi_head_attention(nn::layer_norm(h), {.heads = 4, .causal = true}));
              h = nn::residual(h, nn::feed_forward(nn::layer_norm(h), {.hidden = 64, .activation = gelu_tanh}));
            }
            return std::map<std::string, symbol>{{"logits", nn::dense(nn::layer_norm(h), {.units = 20})}};
          },
          20};
}

/// A model with two inputs, and with outputs of two heads, each with a layer of its own.
inline predicting_model heads_predictor() {
  return {"heads",
          {{"numbers", dtype::float32, {10}}, {"word", dtype::int32, {3}}},
          [](graph&, const features& x) {
            const symbol words = reduce_mean(nn::embedding(x["word"], {.entries = 20, .units = 6}), {{1}});
            const symbol h = nn::dense(concat({x["numbers"], words}), {.units = 16, .activation = gelu});
            const symbol a = nn::dense(h, {.units = 3, .name = "digits"}),
                         b = nn::dense(h, {.units = 1, .name = "price"});
            return std::map<std::string, symbol>{{"digits/class_ids", argmax(a)},
                                                 {"digits/probabilities", softmax(a)},
                                                 {"price/predictions", softplus(b)},
                                                 {"price/rank", cast(greater(b, scale(b, 0)), dtype::int32)}};
          },
          20};
}

/// expm1 and log1p divided by their operands, of many magnitudes, so that a comparison shows relative errors.
inline predicting_model near_zero_predictor() {
  return {
      "near_zero", {{"x", dtype::float32, {8}}}, [](graph& g, const features& x) {
        const symbol magnitudes = g.constant(
            tensor::of<float>({8}, {1.0f, 0.1f, 1e-2f, 1e-3f, 1e-4f, 1e-6f, 1e-8f, 1e-20f}));
        const symbol small = mul(x["x"], magnitudes);
        return std::map<std::string, symbol>{{"expm1", div(expm1(small), small)}, {"log1p", div(log1p(small), small)}};
      }};
}

/// Numbers that no integer has, as float32 and float64, cast to each integer dtype; and booleans in their order.
inline predicting_model casts_predictor() {
  return {
      "casts", {{"x", dtype::float32, {8}}}, [](graph& g, const features& x) {
        constexpr float infinite = std::numeric_limits<float>::infinity();
        const symbol factors = g.constant(tensor::of<float>({8}, {1, 200, 1e9f, 3e9f, 9e18f, 3e19f, 3e38f, infinite}));
        const symbol narrow = mul(x["x"], factors), wide = cast(narrow, dtype::float64),
                     nan = sub(narrow, narrow);  // Where x · ∞ is infinite; else 0.
        const symbol positive = greater(narrow, scale(narrow, 0)), small = greater(x["x"], scale(narrow, 1e-3));
        std::map<std::string, symbol> y{
            {"nan", cast(nan, dtype::int32)},      {"wide_nan", cast(cast(nan, dtype::float64), dtype::int64)},
            {"less", less(positive, small)},       {"less_equal", less_equal(positive, small)},
            {"greater", greater(positive, small)}, {"greater_equal", greater_equal(positive, small)}};
        for (const dtype to : {dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
          y["narrow_" + std::string{to_string(to)}] = cast(narrow, to);
          y["wide_" + std::string{to_string(to)}] = cast(wide, to);
        }
        return y;
      }};
}

inline std::vector<predicting_model> predicting_models() {
  return {dense_predictor({784, 256, 128, 10}),
          lenet_predictor(),
          pictures_predictor(),
          lstm_predictor(),
          transformer_predictor(),
          heads_predictor(),
          near_zero_predictor(),
          casts_predictor()};
}

/// Pseudo-random rows for `c`: indices below `entries` for int32, else numbers in [-1, 1).
inline tensor random_rows(const component& c, int64_t rows, int32_t entries, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  const auto next = [&state] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<uint32_t>(state >> 33);
  };
  const shape dims = c.dims.prepend(rows);
  if (c.type == dtype::int32) {
    std::vector<int32_t> x(static_cast<size_t>(dims.elements()));
    for (auto& v : x)
      v = static_cast<int32_t>(next() % static_cast<uint32_t>(entries));
    return tensor::of<int32_t>(dims, std::span<const int32_t>{x});
  }
  std::vector<float> x(static_cast<size_t>(dims.elements()));
  for (auto& v : x)
    v = static_cast<float>(next()) * 0x1p-30f - 1;
  return tensor::of<float>(dims, std::span<const float>{x});
}

}  // namespace troupe::test
