// Operations make the values of a graph; they are listed family by family.
// Read it to begin with.
//
// Each states its shape rule; `floating` is float32 or float64, `number` is floating, int32 or int64. Operands of one
// operation are of one dtype unless it says otherwise; nothing is converted silently (see `cast`). An operation whose
// operands do not fit is kept in the graph as its error, with the operation, both shapes and the source line, and
// yields an invalid symbol. Each is differentiable, also twice, unless it says otherwise. NaN operands yield NaN.
//
// Integers wrap around at the ends of their range.
#pragma once

#include <troupe/graph.hpp>

#include <array>

namespace troupe {

// -- products --------------------------------------------------------------------

/// [..., m, k] × [..., k, n] -> [..., m, n], floating; either operand may be taken transposed (its last two axes). Leading
/// axes broadcast.
struct matmul_options { bool transpose_a = false; bool transpose_b = false; };
TROUPE_API symbol matmul(symbol a, symbol b, matmul_options options = {}, TROUPE_AT);

// -- element-wise, two operands ------------------------------------------------------
// With broadcasting: shapes are aligned at the last axis; an extent of 1 is stretched (numpy's rule).

TROUPE_API symbol add(symbol a, symbol b, TROUPE_AT);      ///< number.
TROUPE_API symbol sub(symbol a, symbol b, TROUPE_AT);      ///< number.
TROUPE_API symbol mul(symbol a, symbol b, TROUPE_AT);      ///< number.
TROUPE_API symbol div(symbol a, symbol b, TROUPE_AT);      ///< floating.
/// a^b, floating. The gradient for b is 0 where a <= 0 (TensorFlow's rule; log a has no real value there).
TROUPE_API symbol pow(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol maximum(symbol a, symbol b, TROUPE_AT);  ///< number. Equal operands get half the gradient each.
TROUPE_API symbol minimum(symbol a, symbol b, TROUPE_AT);

/// An operand with the source location of the operator, since operators cannot have a default argument.
struct left_operand {
  symbol value;
  std::source_location at;
  left_operand(symbol s, std::source_location where = std::source_location::current()) : value(s), at(where) {}  // NOLINT(google-explicit-constructor)
};
struct left_number {
  double value;
  std::source_location at;
  left_number(double x, std::source_location where = std::source_location::current()) : value(x), at(where) {}  // NOLINT(google-explicit-constructor)
};
inline symbol operator+(left_operand a, symbol b) { return add(a.value, b, a.at); }
inline symbol operator-(left_operand a, symbol b) { return sub(a.value, b, a.at); }
inline symbol operator*(left_operand a, symbol b) { return mul(a.value, b, a.at); }
inline symbol operator/(left_operand a, symbol b) { return div(a.value, b, a.at); }

/// The scalar `value` of x's dtype, which must hold it: an integer holds whole numbers within its range, a floating
/// dtype everything within its own, rounded to it, and infinities and NaN.
TROUPE_API symbol number_like(symbol x, double value, TROUPE_AT);
// A number beside a symbol is taken as `number_like` the symbol: 2 * x, 1 - x, x / 3.
TROUPE_API symbol operator*(left_operand a, double b);
inline symbol operator*(left_number a, symbol b) { return left_operand{b, a.at} * a.value; }
inline symbol operator+(left_operand a, double b) { return add(a.value, number_like(a.value, b, a.at), a.at); }
inline symbol operator-(left_operand a, double b) { return sub(a.value, number_like(a.value, b, a.at), a.at); }
inline symbol operator/(left_operand a, double b) { return div(a.value, number_like(a.value, b, a.at), a.at); }
inline symbol operator+(left_number a, symbol b) { return add(number_like(b, a.value, a.at), b, a.at); }
inline symbol operator-(left_number a, symbol b) { return sub(number_like(b, a.value, a.at), b, a.at); }
inline symbol operator/(left_number a, symbol b) { return div(number_like(b, a.value, a.at), b, a.at); }

// Comparisons are boolean and have no gradient; with NaN only not_equal holds.
TROUPE_API symbol equal(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol not_equal(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol less(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol less_equal(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol greater(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol greater_equal(symbol a, symbol b, TROUPE_AT);

// Booleans only; no gradient.
TROUPE_API symbol logical_and(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol logical_or(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol logical_not(symbol x, TROUPE_AT);

/// a where the boolean `condition` holds, else b; all three broadcast. Any dtype.
TROUPE_API symbol select(symbol condition, symbol a, symbol b, TROUPE_AT);

// -- element-wise, one operand -------------------------------------------------------
// Floating, and where it says number also int32 and int64.

TROUPE_API symbol neg(symbol x, TROUPE_AT);     ///< number.
inline symbol operator-(left_operand x) { return neg(x.value, x.at); }
TROUPE_API symbol exp(symbol x, TROUPE_AT);
TROUPE_API symbol expm1(symbol x, TROUPE_AT);   ///< e^x - 1, exact near 0.
TROUPE_API symbol log(symbol x, TROUPE_AT);
TROUPE_API symbol log1p(symbol x, TROUPE_AT);   ///< log(1 + x), exact near 0.
TROUPE_API symbol sqrt(symbol x, TROUPE_AT);
TROUPE_API symbol rsqrt(symbol x, TROUPE_AT);   ///< 1 / √x
TROUPE_API symbol square(symbol x, TROUPE_AT);  ///< number.
TROUPE_API symbol abs(symbol x, TROUPE_AT);     ///< number. Gradient 0 at 0.
TROUPE_API symbol sign(symbol x, TROUPE_AT);    ///< number: -1, 0 or 1. Gradient 0.
TROUPE_API symbol floor(symbol x, TROUPE_AT);   ///< Gradient 0.
TROUPE_API symbol erf(symbol x, TROUPE_AT);     ///< 2/√π · ∫₀ˣ e^-t² dt
TROUPE_API symbol scale(symbol x, double factor, TROUPE_AT);  ///< factor · x.
/// x kept within [least, greatest]; gradient 0 outside.
TROUPE_API symbol clip(symbol x, double least, double greatest, TROUPE_AT);
TROUPE_API symbol cast(symbol x, dtype type, TROUPE_AT);      ///< Gradient between floating types only.
TROUPE_API symbol stop_gradient(symbol x, TROUPE_AT);         ///< x; nothing flows back.
/// x; a step in which it, or the gradient that flows back through it, has an element that is not finite fails with
/// invalid_argument: "<message>: nan at [3, 0] is not finite: tower/check_numerics (model.cpp:12)". tf.check_numerics. Where
/// nothing uses the result, nothing is checked.
TROUPE_API symbol check_numerics(symbol x, std::string_view message, TROUPE_AT);
/// x, number; a step in which it has an element that is outside of [least, greatest] or not finite fails with invalid_argument: "<message>:
/// 1.5 at [3, 0] is not in [0, 1]: tower/check_range (model.cpp:12)". A bound may be infinite; those of integers are whole numbers of at
/// most 2^53 otherwise. The gradient passes. Where nothing uses the result, nothing is checked.
TROUPE_API symbol check_range(symbol x, double least, double greatest, std::string_view message, TROUPE_AT);

// -- activations -----------------------------------------------------------------

TROUPE_API symbol relu(symbol x, TROUPE_AT);      ///< max(x, 0); gradient 0 at 0.
/// x where x > 0, else slope · x. Maas et al. 2013.
TROUPE_API symbol leaky_relu(symbol x, double slope = 0.2, TROUPE_AT);
TROUPE_API symbol elu(symbol x, TROUPE_AT);       ///< x where x > 0, else e^x - 1. Clevert et al. 2016, α = 1.
/// x·Φ(x), Φ the normal distribution function, by erf. Hendrycks & Gimpel 2016.
TROUPE_API symbol gelu(symbol x, TROUPE_AT);
/// Its approximation x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))), same source.
TROUPE_API symbol gelu_tanh(symbol x, TROUPE_AT);
TROUPE_API symbol sigmoid(symbol x, TROUPE_AT);   ///< 1 / (1 + e^-x)
TROUPE_API symbol softplus(symbol x, TROUPE_AT);  ///< log(1 + e^x), without overflow.
TROUPE_API symbol swish(symbol x, TROUPE_AT);     ///< x · sigmoid(x). Ramachandran et al. 2017, β = 1.
TROUPE_API symbol tanh(symbol x, TROUPE_AT);

using activation = symbol (*)(symbol, std::source_location);

// -- reductions ------------------------------------------------------------------

/// Reduces over `axes` (negative ones count from the end), or all when empty; reduced axes are dropped, or kept with
/// extent 1.
struct reduce_options { std::vector<int> axes = {}; bool keep = false; };
TROUPE_API symbol reduce_sum(symbol x, reduce_options options = {}, TROUPE_AT);   ///< number; 0 for no elements.
TROUPE_API symbol reduce_mean(symbol x, reduce_options options = {}, TROUPE_AT);  ///< floating.
TROUPE_API symbol reduce_max(symbol x, reduce_options options = {}, TROUPE_AT);   ///< number. The gradient is shared among ties.
TROUPE_API symbol reduce_min(symbol x, reduce_options options = {}, TROUPE_AT);
/// number; 1 for no elements. The gradient is exact with zeros among the factors; there is no third derivative.
TROUPE_API symbol reduce_prod(symbol x, reduce_options options = {}, TROUPE_AT);
/// log Σ e^x, shifted by the maximum so that nothing overflows; -∞ where all elements are -∞.
TROUPE_API symbol reduce_logsumexp(symbol x, reduce_options options = {}, TROUPE_AT);
TROUPE_API symbol argmax(symbol x, int axis = -1, TROUPE_AT);  ///< number -> int64, the first of equals; no gradient.
TROUPE_API symbol argmin(symbol x, int axis = -1, TROUPE_AT);

/// Sums of x along `axis`: y[i] = x[0] + ... + x[i], `exclusive` without x[i], `reverse` from the other end. number.
struct cumsum_options { bool exclusive = false; bool reverse = false; };
TROUPE_API symbol cumsum(symbol x, int axis = 0, cumsum_options options = {}, TROUPE_AT);

TROUPE_API symbol softmax(symbol x, TROUPE_AT);      ///< Over the last axis, floating.
TROUPE_API symbol log_softmax(symbol x, TROUPE_AT);  ///< Over the last axis, floating.

// -- shapes ----------------------------------------------------------------------
// Any dtype unless it says otherwise. An axis may be negative: it counts from the end.

/// Same elements; extents must multiply to the same product, the unknowns included. At most one -1 is inferred.
TROUPE_API symbol reshape(symbol x, symbol_shape dims, TROUPE_AT);
TROUPE_API symbol expand_dims(symbol x, int axis, TROUPE_AT);  ///< Inserts an axis of extent 1; -1: after the last.
TROUPE_API symbol squeeze(symbol x, std::vector<int> axes, TROUPE_AT);  ///< Drops these axes, which have extent 1.
TROUPE_API symbol broadcast_to(symbol x, symbol_shape dims, TROUPE_AT);
/// Axis i of the result is axis order[i] of x; an empty order reverses the axes.
TROUPE_API symbol transpose(symbol x, std::vector<int> order = {}, TROUPE_AT);
/// One or more parts joined along `axis`, in order: of one dtype, and of one shape except for that extent, which must
/// be known. Without parts: an invalid symbol.
TROUPE_API symbol concat(std::span<const symbol> parts, int axis = -1, TROUPE_AT);
inline symbol concat(std::initializer_list<symbol> parts, int axis = -1, TROUPE_AT) {
  return concat(std::span{parts.begin(), parts.size()}, axis, at);
}
/// Parts of one shape along a new axis.
TROUPE_API symbol stack(std::span<const symbol> parts, int axis = 0, TROUPE_AT);
inline symbol stack(std::initializer_list<symbol> parts, int axis = 0, TROUPE_AT) {
  return stack(std::span{parts.begin(), parts.size()}, axis, at);
}
/// x cut along `axis` into parts of those extents, which must add up to its own.
TROUPE_API std::vector<symbol> split(symbol x, std::vector<int64_t> extents, int axis = -1, TROUPE_AT);
/// Elements [first, first + count) of `axis`, whose extent must be known.
TROUPE_API symbol slice(symbol x, int axis, int64_t first, int64_t count, TROUPE_AT);
/// For each axis: cuts `low` elements off the beginning and `high` off the end, and keeps every `step`th of the rest.
/// Lists are as long as x has axes, or empty: nothing cut, every element kept.
struct strided_slice_options { std::vector<int64_t> low = {}, high = {}, step = {}; };
TROUPE_API symbol strided_slice(symbol x, strided_slice_options options, TROUPE_AT);
/// The inverse: puts `low` elements of `value` before each axis, `high` after it, and `between` between neighbours.
struct pad_options { std::vector<int64_t> low = {}, high = {}, between = {}; double value = 0; };
TROUPE_API symbol pad(symbol x, pad_options options, TROUPE_AT);
/// x repeated `times[i]` times along axis i.
TROUPE_API symbol tile(symbol x, std::vector<int64_t> times, TROUPE_AT);
TROUPE_API symbol reverse(symbol x, std::vector<int> axes, TROUPE_AT);
/// x[..., n, ...] at `indices`, int32 or int64 of any shape, along `axis`: [..., indices..., ...]. An index outside [0, n) is
/// an error of the step that names it (invalid_argument), never a wild read.
TROUPE_API symbol gather(symbol x, symbol indices, int axis = 0, TROUPE_AT);
/// Zeros [n, ...] with `updates` [indices..., ...] added to their rows, in the order of the indices. number.
TROUPE_API symbol scatter_add(symbol indices, symbol updates, int64_t n, TROUPE_AT);
/// For each element of x, number, how many elements of `sorted` [n], ascending and of x's dtype, are below it: int32 of x's shape, in
/// [0, n]; 0 for NaN. Unsorted elements give some number in that range. No gradient.
TROUPE_API symbol search_sorted(symbol sorted, symbol x, TROUPE_AT);
/// indices int32, int64 or uint8 [...] -> floating [..., depth]: 1 at the index, all zeros for one outside. No gradient.
TROUPE_API symbol one_hot(symbol indices, int64_t depth, dtype type = dtype::float32, TROUPE_AT);

// -- images ----------------------------------------------------------------------
// Floating [batch, height, width, channels]; height, width and channels must be known numbers.

/// `same`: an output for each `stride` of the input, as much padding as that needs, the odd one after (TensorFlow's rule);
/// `valid`: windows that lie inside only.
enum class padding : uint8_t { same, valid };

struct conv2d_options {
  std::array<int64_t, 2> strides{1, 1};    ///< Along height and width.
  std::array<int64_t, 2> dilation{1, 1};   ///< Distance between adjacent kernel elements.
  troupe::padding padding = padding::same;
  int64_t groups = 1;                      ///< Group g of the outputs sees group g of the channels only.
};
/// kernel [kernel height, kernel width, channels / groups, outputs] -> [batch, height', width', outputs]:
/// y[b, i, j, o] = Σ x[b, i·stride + di·dilation - pad, ..., c] · kernel[di, dj, c, o].
TROUPE_API symbol conv2d(symbol x, symbol kernel, conv2d_options options = {}, TROUPE_AT);
/// kernel [kernel height, kernel width, channels, multiplier] -> [..., channels · multiplier]: each channel by itself.
TROUPE_API symbol depthwise_conv2d(symbol x, symbol kernel, conv2d_options options = {}, TROUPE_AT);
/// The adjoint of conv2d for its image: kernel [kernel height, kernel width, outputs / groups, channels], x [batch, h,
/// w, channels] -> [batch, height, width, outputs]. height is an extent for which conv2d yields h: with `same`
/// h·stride, with `valid` h·stride + max(reach - stride, 0), reach = (kernel height - 1)·dilation + 1, as in Keras;
/// width likewise. Gaps between kernels that do not meet are 0, also after the last one.
TROUPE_API symbol conv2d_transpose(symbol x, symbol kernel, conv2d_options options = {}, TROUPE_AT);

struct pool_options {
  std::array<int64_t, 2> size{2, 2};       ///< Height and width.
  std::array<int64_t, 2> strides{2, 2};
  troupe::padding padding = padding::valid;
};
/// The greatest of each window and channel; the gradient goes to the first of equals. Padding is never the greatest.
TROUPE_API symbol max_pool(symbol x, pool_options options = {}, TROUPE_AT);
/// The mean of each window and channel, without padding.
TROUPE_API symbol average_pool(symbol x, pool_options options = {}, TROUPE_AT);
/// [batch, height, width, channels] -> [batch, channels]
TROUPE_API symbol global_max_pool(symbol x, TROUPE_AT);
TROUPE_API symbol global_average_pool(symbol x, TROUPE_AT);

// -- training --------------------------------------------------------------------

/// labels int32/int64/uint8 [b] in [0, classes), logits [b, classes] -> [b]: -log softmax(logits)[label]. Labels come
/// first, as in losses.hpp. A label outside the range is an error of the step (invalid_argument naming row and value),
/// never a wild read.
TROUPE_API symbol sparse_softmax_cross_entropy(symbol labels, symbol logits, TROUPE_AT);
/// Zeroes each element with probability `rate`, scales the rest by 1 / (1 - rate). Keyed by seed, scoped name, step, shard.
/// Identity outside training. Srivastava et al. 2014.
TROUPE_API symbol dropout(symbol x, double rate, bool training, TROUPE_AT);

}  // namespace troupe
