#include "compute/kernels/elementary.hpp"
#include "compute/nn/layer.hpp"

#include <troupe/nn/attention.hpp>
#include <troupe/nn/layers.hpp>

#include <cmath>

namespace troupe::nn {
namespace {

/// The score of a hidden position. Finite, so that a row that is entirely hidden has equal weights and no NaN.
constexpr double hidden_score = -1e30;

symbol masked(symbol scores, symbol mask, std::source_location at) {
  return given(mask) ? select(mask, scores, fill(*scores.owner(), hidden_score, scores.type(), {}, at), at) : scores;
}

/// a AND b; if only one is given, that one.
symbol both(symbol a, symbol b, std::source_location at) {
  return !given(a) ? b : !given(b) ? a : logical_and(a, b, at);
}

/// [batch, t, heads · units] -> [batch, heads, t, units]
symbol by_head(symbol x, int64_t heads, std::source_location at) {
  if (!x.valid())
    return x;
  const int64_t units = features_of(x) / heads;
  return transpose(reshape(x, {x.dims()[0], x.dims()[1], extent{heads}, extent{units}}, at), {0, 2, 1, 3}, at);
}

/// Whether x is [batch, time, features] with known features, of the batch and dtype of `like`.
bool is_sequence(symbol x, symbol like) {
  return has_features(x, 3) && x.rank() == 3 && x.type() == like.type() && x.dims()[0] == like.dims()[0];
}

/// Why the layer cannot take its operands; empty when it can.
std::string trouble_with(symbol x, const multi_head_attention_options& o) {
  if (!is_sequence(x, x))
    return "operand must be floating [batch, time, features] with known features, not " + describe(x);
  if (o.heads < 1 || o.head_units < 0 || o.units < 0 || (o.head_units == 0 && features_of(x) % o.heads != 0))
    return "heads must be at least 1 and divide the features where head_units is 0, not " + std::to_string(o.heads)
           + " for " + describe(x);
  if (!is_rate(o.dropout))
    return "dropout must be in [0, 1), not " + std::to_string(o.dropout);
  for (symbol s : {o.source, o.memory})
    if (given(s) && !is_sequence(s, x))
      return "source and memory must be of the dtype and batch of " + describe(x) + ", with known features, not "
             + describe(s);
  const symbol source = given(o.source) ? o.source : x;
  if (given(o.memory)
      && (o.memory.dims()[2] != source.dims()[2] || !o.memory.dims()[1].known() || !source.dims()[1].known()))
    return "memory " + describe(o.memory) + " does not come before " + describe(source)
           + ": both lengths must be known, and the features the same";
  if (o.causal || o.relative) {
    const extent t = x.dims()[1], s = source.dims()[1];
    const int64_t before = given(o.memory) ? o.memory.dims()[1].coefficient : 0;
    if (!t.known() || !s.known() || t.coefficient > before + s.coefficient)
      return "a causal order of " + describe(x) + " within " + std::to_string(before) + " and " + describe(source)
             + " needs known lengths, and at least as many keys as queries";
  }
  return {};
}

}  // namespace

symbol scaled_dot_product_attention(symbol q, symbol k, symbol v, symbol mask, std::source_location at) {
  graph* g = common_graph("scaled_dot_product_attention", {q, k, v, given(mask) ? mask : q}, at);
  if (!g)
    return invalid_of({q, k, v, mask});
  const bool matrices = has_features(q, 2) && k.rank() >= 2 && v.rank() >= 2 && k.type() == q.type()
                        && v.type() == q.type();
  if (!matrices || k.dims().back() != q.dims().back() || v.dims()[v.dims().size() - 2] != k.dims()[k.dims().size() - 2]
      || (given(mask) && mask.type() != dtype::boolean))
    return refuse(*g, "scaled_dot_product_attention",
                  "needs floating [..., t, d], [..., s, d] and [..., s, e] and a boolean mask, not " + describe(q)
                      + ", " + describe(k) + " and " + describe(v) + (given(mask) ? " and " + describe(mask) : ""),
                  at);
  const auto scope = g->scope("attention");
  const symbol scores = scale(matmul(q, k, {.transpose_b = true}, at),
                              1 / std::sqrt(static_cast<double>(features_of(q))), at);
  const symbol shown = masked(scores, mask, at);
  if (shown.valid() && shown.dims() != scores.dims())
    return refuse(*g, "scaled_dot_product_attention",
                  "the mask " + describe(mask) + " does not stretch to the scores " + describe(scores), at);
  return shown.valid() ? matmul(softmax(shown, at), v, {}, at) : shown;
}

symbol causal_mask(graph& g, int64_t queries, int64_t keys, std::source_location at) {
  if (queries < 1 || keys < queries || queries > elements_max / keys)
    return refuse(
        g, "causal_mask",
        "there must be a query, and a key for each, not " + std::to_string(queries) + " and " + std::to_string(keys),
        at);
  auto bytes = allocate_buffer(queries * keys);
  if (!bytes)
    return refuse(g, "causal_mask",
                  "no memory for " + std::to_string(queries) + " queries and " + std::to_string(keys) + " keys", at);
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      bytes.get()[i * keys + j] = std::byte{j <= i + keys - queries};
  return g.constant(tensor{dtype::boolean, {queries, keys}, std::move(bytes)}, at);
}

symbol relative_shift(symbol x, std::source_location at) {
  graph* g = common_graph("relative_shift", {x}, at);
  if (!g)
    return x;
  const auto known = [&](int axis) { return x.dims()[static_cast<size_t>(x.rank() + axis)].known(); };
  if (!is_number(x.type()) || x.rank() < 2 || !known(-1) || !known(-2)
      || x.dims().back().coefficient < x.dims()[x.dims().size() - 2].coefficient)
    return refuse(*g, "relative_shift", "needs numbers [..., t, s] with t and s known, t at most s, not " + describe(x),
                  at);
  const auto scope = g->scope("relative_shift");
  const auto rank = x.dims().size();
  // Shifts row i left by t - 1 - i: puts a column in front, reads [t, s + 1] as [s + 1, t] and drops the first row.
  pad_options column{.low = std::vector<int64_t>(rank), .high = {}, .between = {}};
  column.low.back() = 1;
  symbol_shape turned = x.dims();
  turned[rank - 2] = extent{x.dims()[rank - 1].coefficient + 1};
  turned[rank - 1] = x.dims()[rank - 2];
  const symbol y = reshape(pad(x, column, at), turned, at);
  return reshape(slice(y, -2, 1, x.dims()[rank - 1].coefficient, at), symbol_shape{x.dims()}, at);
}

symbol sinusoids(graph& g, int64_t count, int64_t features, sinusoid_options options, std::source_location at) {
  if (count < 1 || features < 2 || features % 2 != 0 || count > elements_max / features || !is_floating(options.type))
    return refuse(g, "sinusoids",
                  "needs a position, an even number of features and a floating dtype, not " + std::to_string(count)
                      + ", " + std::to_string(features) + " and " + std::string{to_string(options.type)},
                  at);
  std::vector<double> x(static_cast<size_t>(count * features));
  const int64_t half = features / 2;
  for (int64_t p = 0; p < count; ++p)
    for (int64_t i = 0; i < half; ++i) {
      const double frequency = elementary::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(features));
      const double angle = static_cast<double>(options.first + p * options.step) * frequency;
      x[static_cast<size_t>(p * features + i)] = elementary::sin(angle);
      x[static_cast<size_t>(p * features + half + i)] = elementary::cos(angle);
    }
  if (options.type == dtype::float64)
    return g.constant(tensor::of<double>({count, features}, std::span<const double>{x}), at);
  const std::vector<float> narrow(x.begin(), x.end());
  return g.constant(tensor::of<float>({count, features}, std::span<const float>{narrow}), at);
}

symbol multi_head_attention(symbol x, multi_head_attention_options o, std::source_location at) {
  const auto names = [](symbol s, symbol like) { return given(s) ? s : like; };
  graph* g = common_graph("multi_head_attention", {x, names(o.source, x), names(o.memory, x), names(o.mask, x)}, at);
  if (!g)
    return invalid_of({x, o.source, o.memory, o.mask});
  if (auto trouble = trouble_with(x, o); !trouble.empty())
    return refuse(*g, "multi_head_attention", std::move(trouble), at);
  const auto scope = g->scope(o.name);
  const int64_t units = o.head_units > 0 ? o.head_units : features_of(x) / o.heads;
  symbol source = given(o.source) ? o.source : x;
  if (given(o.memory)) {
    const symbol parts[] = {stop_gradient(o.memory, at), source};
    source = concat(parts, 1, at);
  }
  const auto project = [&](symbol from, const char* name) {
    return dense(from, {.units = o.heads * units, .bias = o.bias, .kernel = o.kernel, .name = name}, at);
  };
  const symbol q = by_head(project(x, "query"), o.heads, at);
  const symbol k = by_head(project(source, "key"), o.heads, at);
  const symbol v = by_head(project(source, "value"), o.heads, at);
  const extent t = x.dims()[1], s = source.dims()[1];
  symbol scores;
  if (o.relative) {
    const auto bias = [&](const char* name) {
      const symbol all = g->variable({.name = name, .dims = {o.heads, units}, .type = x.type()}, at);
      return reshape(all, {o.heads, 1, units}, at);
    };
    const int64_t features = features_of(x) + features_of(x) % 2;
    const symbol distances = sinusoids(*g, s.coefficient, features,
                                       {.first = s.coefficient - 1, .step = -1, .type = x.type()}, at);
    const symbol position = dense(
        distances, {.units = o.heads * units, .bias = false, .kernel = o.kernel, .name = "position"}, at);
    const symbol r = transpose(reshape(position, {s, extent{o.heads}, extent{units}}, at), {1, 0, 2}, at);
    const symbol by_content = matmul(add(q, bias("content_bias"), at), k, {.transpose_b = true}, at);
    const symbol by_distance = matmul(add(q, bias("position_bias"), at), r, {.transpose_b = true}, at);
    scores = add(by_content, relative_shift(by_distance, at), at);
  } else {
    scores = matmul(q, k, {.transpose_b = true}, at);
  }
  scores = scale(scores, 1 / std::sqrt(static_cast<double>(units)), at);
  const symbol order = o.causal || o.relative ? causal_mask(*g, t.coefficient, s.coefficient, at) : symbol{};
  const symbol shown = masked(scores, both(o.mask, order, at), at);
  if (!shown.valid())
    return shown;
  if (shown.dims() != scores.dims())
    return refuse(*g, "multi_head_attention",
                  "the mask " + describe(o.mask) + " does not stretch to the scores " + describe(scores), at);
  const symbol weights = troupe::dropout(softmax(shown, at), o.dropout, o.training, at);
  const symbol mixed = transpose(matmul(weights, v, {}, at), {0, 2, 1, 3}, at);
  const symbol rows = reshape(mixed, {x.dims()[0], t, extent{o.heads * units}}, at);
  return dense(rows,
               {.units = o.units > 0 ? o.units : features_of(x), .bias = o.bias, .kernel = o.kernel, .name = "output"},
               at);
}

}  // namespace troupe::nn
