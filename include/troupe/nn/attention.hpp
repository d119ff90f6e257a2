// Attention. nn.hpp has the rules of all layers.
// Not needed to begin with.
//
//   auto y = tr::nn::multi_head_attention(x, {.heads = 8, .causal = true});                          // within x
//   auto z = tr::nn::multi_head_attention(x, {.heads = 8, .source = encoded, .mask = not_padding});  // to another
//   auto w = tr::nn::multi_head_attention(x, {.heads = 8, .memory = before, .relative = true});      // Transformer-XL
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

/// softmax(q · kᵀ / √d) · v; q [..., t, d], k [..., s, d], v [..., s, e] -> [..., t, e]. Vaswani et al. 2017, eq. 1.
/// `mask`, if valid, is boolean and broadcasts to [..., t, s]: false hides a key from a query. A query without any
/// visible key gets the mean of all values.
TROUPE_API symbol scaled_dot_product_attention(symbol q, symbol k, symbol v, symbol mask = {}, TROUPE_AT);

/// Boolean [queries, keys]: query i sees the keys up to its own position, i + keys - queries, since keys from memory
/// come before the queries. keys >= queries >= 1.
TROUPE_API symbol causal_mask(graph& g, int64_t queries, int64_t keys, TROUPE_AT);

/// Turns scores by distance (column s - 1 is distance 0) into scores by key: y[..., i, j] = x[..., i, j + t - 1 - i]
/// for x [..., t, s], where t and s are known and s >= t. Valid only where j <= i + s - t, the part that a causal mask
/// shows. Dai et al. 2019, appendix B.
TROUPE_API symbol relative_shift(symbol x, TROUPE_AT);

/// Position encodings [count, features] for the positions first, first + step, ...: the sines of
/// position / 10000^(2i / features), then the cosines. `features` is even. Vaswani et al. 2017, 3.5, in the order of
/// tensor2tensor and Transformer-XL.
struct sinusoid_options {
  int64_t first = 0;
  int64_t step = 1;
  dtype type = dtype::float32;
};
TROUPE_API symbol sinusoids(graph& g, int64_t count, int64_t features, sinusoid_options options = {}, TROUPE_AT);

struct multi_head_attention_options {
  int64_t heads = 0;
  int64_t head_units = 0;  ///< 0: x's features divided by `heads`.
  int64_t units = 0;       ///< Features of the result; 0: those of x.
  symbol source = {};      ///< The sequence of keys and values, [batch, s, m]; invalid: x itself.
  symbol memory = {};      ///< Earlier keys and values [batch, r, m], put before the source; gets no gradient.
  symbol mask = {};        ///< Boolean, broadcasts to [batch, heads, t, r + s]; combined with `causal`.
  bool causal = false;     ///< Hides keys after a query's own position (`causal_mask`).
  bool relative = false;   ///< Scores also depend on the distance; implies `causal`. t <= r + s, all known.
  bool bias = true;
  double dropout = 0;  ///< Dropout rate of the attention weights while `training`, in [0, 1).
  bool training = false;
  initializer kernel = init::glorot_uniform();
  std::string name = "attention";
};
/// Attention with several heads: x [batch, t, n] -> [batch, t, units]. Vaswani et al. 2017, 3.2.2. Variables
/// `<name>/{query,key,value,output}/{kernel,bias}`.
/// With `relative` (Dai et al. 2019, 3.3) the score of query i for key j is
///   ((q_i + content_bias) · k_j + (q_i + position_bias) · r_{i-j}) / √head_units,
/// where r = sinusoids of the distance · `<name>/position/kernel`; the variables `<name>/content_bias` and
/// `<name>/position_bias` [heads, head_units] start at 0.
TROUPE_API symbol multi_head_attention(symbol x, multi_head_attention_options options, TROUPE_AT);

}  // namespace troupe::nn
