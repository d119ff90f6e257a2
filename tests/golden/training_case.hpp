// Small training jobs whose bits are recorded; together they use all arithmetic.
#pragma once

#include "compute/graph/operation.hpp"
#include "tests/compute/model_fixture.hpp"
#include "tests/compute/optimizer_recurrences.hpp"

#include <troupe/losses.hpp>
#include <troupe/nn.hpp>

#include <cstdio>

namespace troupe::test {

/// The file's lines about one case: "NAME  QUANTITY VALUE".
struct golden_lines {
  std::string text;

  void add(const std::string& name, const std::string& quantity, double value) {
    char number[40];
    std::snprintf(number, sizeof number, "%a", value);
    text += name + "  " + quantity + " " + number + "\n";
  }
  void add(const std::string& name, const std::string& quantity, uint64_t bits) {
    char number[24];
    std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(bits));
    text += name + "  " + quantity + " " + number + "\n";
  }
};

/// FNV-1a.
inline uint64_t digest(std::span<const std::byte> bytes, uint64_t h = 0xcbf29ce484222325) {
  for (std::byte b : bytes)
    h = (h ^ static_cast<uint64_t>(b)) * 0x100000001b3;
  return h;
}

/// Digest of all variables and slots, without the padding between them.
inline uint64_t digest(const parameter_store& store) {
  uint64_t h = digest(std::span<const std::byte>{});
  for (size_t i = 0; i < store.layout().entries().size(); ++i)
    h = digest(store.view(0, static_cast<int32_t>(i)).bytes(), h);
  return h;
}

/// Losses on the way, and a digest of the variables before the first step and of variables and slots after the last.
inline void train(golden_lines& to, const std::string& name, trainer& t, const std::vector<tensor>& feeds,
                  int64_t steps) {
  std::vector<const std::byte*> data;
  for (const auto& f : feeds)
    data.push_back(f.data());
  to.add(name, "initial", digest(*t.store));
  for (int64_t step = 0; step < steps; ++step) {
    REQUIRE(t.step(data, step) == step_status::ok);
    if (const int64_t made = step + 1; made == 1 || made == 10 || made == 50 || made == 100 || made == steps)
      to.add(name, "loss " + std::to_string(made), t.run->loss());
  }
  to.add(name, "state", digest(*t.store));
}

// -- optimizers ------------------------------------------------------------------------------

/// Every rule, and the steps around a rule.
inline std::vector<optimizer> golden_optimizers() {
  std::vector<optimizer> all = all_rules();
  all.push_back({.rule = adam{.rate = 0.01f},
                 .schedule = cosine_decay{.decay_steps = 200},
                 .warmup_steps = 20,
                 .clip = {.global_norm = 0.5f},
                 .weight_decay = 0.01f,
                 .moving_average = 0.99f,
                 .moving_average_ramps = true});
  all.push_back({.rule = momentum{.rate = 0.05f},
                 .schedule = exponential_decay{.decay_steps = 30, .decay_rate = 0.9f},
                 .clip = {.value = 0.1f, .norm = 0.3f},
                 .groups = {{.suffix = "bias", .rate_factor = 2}}});
  return all;
}

inline void train_with(golden_lines& to, const optimizer& o) {
  trainer t([&](graph& g) { return classifier(g, {10, 16, 4}, dtype::float32, o, 0.1); }, {.batch = 32, .seed = 5});
  train(to, to_text(o), t, {noise<float>({32, 10}, 1), classes(32, 4)}, 200);
}

// -- models ----------------------------------------------------------------------------------

/// Convolutions, pooling, normalisation.
inline symbol of_image(symbol x) {
  symbol h = nn::conv2d(
      x,
      {.filters = 6, .kernel_size = {3, 3}, .padding = padding::same, .activation = relu, .kernel = init::he_normal()});
  h = nn::max_pool(nn::batch_norm(h, true));
  h = nn::conv2d_transpose(h, {.filters = 5, .kernel_size = {3, 3}, .strides = {2, 2}, .activation = elu});
  h = nn::separable_conv2d(h, {.filters = 7, .kernel_size = {3, 3}, .activation = swish});
  h = nn::average_pool(
      nn::depthwise_conv2d(h, {.kernel_size = {2, 2}, .activation = softplus, .kernel = init::lecun_normal()}));
  return nn::dense(nn::flatten(h), {.units = 12, .activation = gelu, .kernel = init::glorot_normal()});
}

/// Embeddings, positions, attention, recurrent layers.
inline symbol of_words(symbol ids, symbol like) {
  symbol h = nn::embedding(ids, {.entries = 8, .units = 16, .type = like.type()});
  h = add(h, nn::sinusoids(*ids.owner(), 6, 16, {.type = like.type()}));
  h = nn::residual(
      h, nn::multi_head_attention(nn::layer_norm(h),
                                  {.heads = 2, .causal = true, .relative = true, .dropout = 0.1, .training = true}));
  h = nn::residual(h, nn::feed_forward(nn::rms_norm(h), {.hidden = 24, .activation = gelu_tanh}));
  h = nn::lstm(h, {.units = 12}).outputs;
  return nn::gru(h, {.units = 12}).last;
}

/// An expression of elementary functions, most of which no layer above uses.
inline symbol bent(symbol x) {
  graph& g = *x.owner();
  const symbol one = fill(g, 1, x.type(), {}, std::source_location::current()), above = add(square(x), one);
  symbol y = add(erf(x), sub(log1p(square(x)), expm1(scale(tanh(x), 0.5))));
  y = add(y, mul(pow(above, scale(sigmoid(x), 0.7)), rsqrt(above)));
  y = add(y, sub(sqrt(above), log(above)));
  return add(y, add(exp(neg(abs(x))), leaky_relu(x, 0.1)));
}

inline model_spec everything(graph& g, dtype type) {
  const auto batch = g.unknown("batch");
  const symbol image = g.placeholder("image", type, {batch, 8, 8, 3}),
               ids = g.placeholder("ids", dtype::int32, {batch, 6});
  const symbol classes = g.placeholder("classes", dtype::int32, {batch}),
               targets = g.placeholder("targets", type, {batch, 5});
  symbol h = bent(add(of_image(image), of_words(ids, image)));
  h = dropout(h, 0.2, true);
  const symbol logits = nn::dense(h, {.units = 5});
  const symbol shares = softmax(targets);
  model_spec spec;
  spec.loss = add(
      add(losses::sparse_softmax_cross_entropy(classes, logits), losses::softmax_cross_entropy(shares, logits)),
      add(losses::sigmoid_cross_entropy(shares, logits), losses::huber(targets, logits)));
  spec.optimizer = adamw{.rate = 0.004f};
  return spec;
}

template <class T>
void train_everything(golden_lines& to, const std::string& name, int64_t steps) {
  trainer t([](graph& g) { return everything(g, dtype_of<T>::value); }, {.batch = 16, .seed = 9});
  train(to, name, t, {noise<T>({16, 8, 8, 3}, 3), test::classes(16 * 6, 8), test::classes(16, 5), noise<T>({16, 5}, 4)},
        steps);
}

// -- what begins and leads a training --------------------------------------------------------

template <class T>
void draw_all(golden_lines& to, const std::string& type) {
  const std::vector<std::pair<std::string, initializer>> kinds{
      {"constant", init::constant(0.1)},          {"uniform", init::uniform(-1, 3)},
      {"normal", init::normal(0.5, 2)},           {"truncated_normal", init::truncated_normal(0, 1)},
      {"glorot_uniform", init::glorot_uniform()}, {"glorot_normal", init::glorot_normal()},
      {"he_uniform", init::he_uniform()},         {"he_normal", init::he_normal()},
      {"lecun_uniform", init::lecun_uniform()},   {"lecun_normal", init::lecun_normal()},
      {"orthogonal", init::orthogonal()}};
  for (const auto& [name, initial] : kinds) {
    graph g;
    g.variable({.name = "w", .dims = {37, 53}, .type = dtype_of<T>::value, .initial = initial});
    const auto store = *parameter_store::create(*parameter_layout::of(g, std::nullopt), 1);
    store->initialise(11);
    to.add(name, type, digest(*store));
  }
}

inline void follow_schedules(golden_lines& to) {
  const std::vector<learning_rate_schedule> all{
      constant_rate{},
      exponential_decay{.decay_steps = 70, .decay_rate = 0.83f},
      exponential_decay{.decay_steps = 70, .decay_rate = 0.83f, .staircase = true},
      polynomial_decay{.decay_steps = 150, .power = 0.5f},
      polynomial_decay{.decay_steps = 40, .power = 2, .cycle = true},
      piecewise_constant{.boundaries = {50, 100}, .values = {0.1f, 0.01f, 0.001f}},
      cosine_decay{.decay_steps = 190, .alpha = 0.1f},
      cosine_decay_restarts{.first_decay_steps = 20, .t_mul = 1.5f, .m_mul = 0.9f},
      inverse_sqrt_decay{.decay_steps = 30}};
  for (const auto& schedule : all) {
    const optimizer o{.rule = gradient_descent{.rate = 0.3f}, .schedule = schedule, .warmup_steps = 10};
    for (int64_t step : {0, 7, 63, 131, 199})
      to.add(to_text(o), "rate " + std::to_string(step), rate_at(o, step));
  }
}

}  // namespace troupe::test
