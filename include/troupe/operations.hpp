// Operations: functions that add values to a graph, listed by family.
// Read it to begin with.
//
// Each comment states the shape rule and the dtypes: `floating` is float32 or float64, `number` is floating, int32 or
// int64. Unless a comment says otherwise, all operands have one dtype, and an operation has a first and a second
// derivative. Nothing is converted silently (see `cast`). Operands that do not fit are an error of the graph, with the
// operation, both shapes and the source line, and yield an invalid symbol. NaN operands yield NaN. Integer overflow
// wraps around.
#pragma once

#include <troupe/graph.hpp>

#include <array>

namespace troupe {

// -- products --------------------------------------------------------------------

/// [..., m, k] × [..., k, n] -> [..., m, n], floating. Leading axes broadcast. The options transpose the last two axes
/// of an operand first.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
};
TROUPE_API symbol matmul(symbol a, symbol b, matmul_options options = {}, TROUPE_AT);

// -- element-wise, two operands ------------------------------------------------------
// Shapes broadcast by numpy's rule: they are aligned at the last axis, and an extent of 1 is repeated.

TROUPE_API symbol add(symbol a, symbol b, TROUPE_AT);  ///< number.
TROUPE_API symbol sub(symbol a, symbol b, TROUPE_AT);  ///< number.
TROUPE_API symbol mul(symbol a, symbol b, TROUPE_AT);  ///< number.
TROUPE_API symbol div(symbol a, symbol b, TROUPE_AT);  ///< floating.
/// a^b, floating. The gradient with respect to b is 0 where a <= 0, where log a is not real (TensorFlow's rule).
TROUPE_API symbol pow(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol maximum(symbol a, symbol b, TROUPE_AT);  ///< number. Equal operands get half the gradient each.
TROUPE_API symbol minimum(symbol a, symbol b, TROUPE_AT);

/// An operand that carries the source location of its operator, since operators cannot have a default argument.
struct left_operand {
  symbol value;
  std::source_location at;
  left_operand(symbol s, std::source_location where = std::source_location::current())
    : value(s), at(where) {}  // NOLINT(google-explicit-constructor)
};
struct left_number {
  double value;
  std::source_location at;
  left_number(double x, std::source_location where = std::source_location::current())
    : value(x), at(where) {}  // NOLINT(google-explicit-constructor)
};
inline symbol operator+(left_operand a, symbol b) { return add(a.value, b, a.at); }
inline symbol operator-(left_operand a, symbol b) { return sub(a.value, b, a.at); }
inline symbol operator*(left_operand a, symbol b) { return mul(a.value, b, a.at); }
inline symbol operator/(left_operand a, symbol b) { return div(a.value, b, a.at); }

/// The scalar `value` in x's dtype. An error if the dtype cannot hold it: an integer dtype holds whole numbers within
/// its range; a floating one rounds, and holds infinities, NaN and all else within its range.
TROUPE_API symbol number_like(symbol x, double value, TROUPE_AT);
// In 2 * x, 1 - x and x / 3 the number becomes `number_like` of the symbol.
TROUPE_API symbol operator*(left_operand a, double b);
inline symbol operator*(left_number a, symbol b) { return left_operand{b, a.at} * a.value; }
inline symbol operator+(left_operand a, double b) { return add(a.value, number_like(a.value, b, a.at), a.at); }
inline symbol operator-(left_operand a, double b) { return sub(a.value, number_like(a.value, b, a.at), a.at); }
inline symbol operator/(left_operand a, double b) { return div(a.value, number_like(a.value, b, a.at), a.at); }
inline symbol operator+(left_number a, symbol b) { return add(number_like(b, a.value, a.at), b, a.at); }
inline symbol operator-(left_number a, symbol b) { return sub(number_like(b, a.value, a.at), b, a.at); }
inline symbol operator/(left_number a, symbol b) { return div(number_like(b, a.value, a.at), b, a.at); }

// Comparisons are boolean and have no gradient. If an operand is NaN, only not_equal is true.
TROUPE_API symbol equal(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol not_equal(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol less(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol less_equal(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol greater(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol greater_equal(symbol a, symbol b, TROUPE_AT);

// For booleans only. No gradient.
TROUPE_API symbol logical_and(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol logical_or(symbol a, symbol b, TROUPE_AT);
TROUPE_API symbol logical_not(symbol x, TROUPE_AT);

/// a where the boolean `condition` is true, else b. All three broadcast. a and b have any dtype.
TROUPE_API symbol select(symbol condition, symbol a, symbol b, TROUPE_AT);

// -- element-wise, one operand -------------------------------------------------------
// x is floating; where the comment says `number`, also int32 or int64.

TROUPE_API symbol neg(symbol x, TROUPE_AT);  ///< number.
inline symbol operator-(left_operand x) { return neg(x.value, x.at); }
TROUPE_API symbol exp(symbol x, TROUPE_AT);
TROUPE_API symbol expm1(symbol x, TROUPE_AT);  ///< e^x - 1, accurate near 0.
TROUPE_API symbol log(symbol x, TROUPE_AT);
TROUPE_API symbol log1p(symbol x, TROUPE_AT);  ///< log(1 + x), accurate near 0.
TROUPE_API symbol sqrt(symbol x, TROUPE_AT);
TROUPE_API symbol rsqrt(symbol x, TROUPE_AT);                 ///< 1 / √x
TROUPE_API symbol square(symbol x, TROUPE_AT);                ///< number.
TROUPE_API symbol abs(symbol x, TROUPE_AT);                   ///< number. Gradient 0 at 0.
TROUPE_API symbol sign(symbol x, TROUPE_AT);                  ///< number: -1, 0 or 1. Gradient 0.
TROUPE_API symbol floor(symbol x, TROUPE_AT);                 ///< Gradient 0.
TROUPE_API symbol erf(symbol x, TROUPE_AT);                   ///< 2/√π · ∫₀ˣ e^-t² dt
TROUPE_API symbol scale(symbol x, double factor, TROUPE_AT);  ///< factor · x.
/// x limited to [least, greatest]. The gradient is 0 outside.
TROUPE_API symbol clip(symbol x, double least, double greatest, TROUPE_AT);
TROUPE_API symbol cast(symbol x, dtype type, TROUPE_AT);  ///< Any dtype to any. Gradient between floating ones.
TROUPE_API symbol stop_gradient(symbol x, TROUPE_AT);     ///< x, without a gradient.
/// Returns x. The step fails with invalid_argument if an element of x, or of its gradient, is not finite: "<message>:
/// nan at [3, 0] is not finite: tower/check_numerics (model.cpp:12)". Without a use of the result nothing is checked.
/// tf.check_numerics.
TROUPE_API symbol check_numerics(symbol x, std::string_view message, TROUPE_AT);
/// Returns x, number. The step fails with invalid_argument if an element is not finite or not in [least, greatest]:
/// "<message>: 1.5 at [3, 0] is not in [0, 1]: tower/check_range (model.cpp:12)". A bound is infinite, or for integers
/// a whole number of at most 2^53. The gradient is that of x. Without a use of the result nothing is checked.
TROUPE_API symbol check_range(symbol x, double least, double greatest, std::string_view message, TROUPE_AT);

// -- activations -----------------------------------------------------------------

TROUPE_API symbol relu(symbol x, TROUPE_AT);  ///< max(x, 0); gradient 0 at 0.
/// x where x > 0, else slope · x. Maas et al. 2013.
TROUPE_API symbol leaky_relu(symbol x, double slope = 0.2, TROUPE_AT);
TROUPE_API symbol elu(symbol x, TROUPE_AT);  ///< x where x > 0, else e^x - 1. Clevert et al. 2016, α = 1.
/// x·Φ(x), where Φ is the normal distribution function, by erf. Hendrycks & Gimpel 2016.
TROUPE_API symbol gelu(symbol x, TROUPE_AT);
/// The approximation of gelu x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))), from the same source.
TROUPE_API symbol gelu_tanh(symbol x, TROUPE_AT);
TROUPE_API symbol sigmoid(symbol x, TROUPE_AT);   ///< 1 / (1 + e^-x)
TROUPE_API symbol softplus(symbol x, TROUPE_AT);  ///< log(1 + e^x), without overflow.
TROUPE_API symbol swish(symbol x, TROUPE_AT);     ///< x · sigmoid(x). Ramachandran et al. 2017, β = 1.
TROUPE_API symbol tanh(symbol x, TROUPE_AT);

using activation = symbol (*)(symbol, std::source_location);

// -- reductions ------------------------------------------------------------------

/// `axes`: which to reduce; negative ones count from the end; empty: all. `keep`: reduced axes stay, with extent 1.
struct reduce_options {
  std::vector<int> axes = {};
  bool keep = false;
};
TROUPE_API symbol reduce_sum(symbol x, reduce_options options = {}, TROUPE_AT);   ///< number; 0 for no elements.
TROUPE_API symbol reduce_mean(symbol x, reduce_options options = {}, TROUPE_AT);  ///< floating.
TROUPE_API symbol reduce_max(symbol x, reduce_options options = {}, TROUPE_AT);   ///< number. Ties share the gradient.
TROUPE_API symbol reduce_min(symbol x, reduce_options options = {}, TROUPE_AT);
/// number; 1 for no elements. The gradient is exact even if factors are 0. There is no third derivative.
TROUPE_API symbol reduce_prod(symbol x, reduce_options options = {}, TROUPE_AT);
/// log Σ e^x, shifted by the maximum so that nothing overflows; -∞ if all elements are -∞.
TROUPE_API symbol reduce_logsumexp(symbol x, reduce_options options = {}, TROUPE_AT);
TROUPE_API symbol argmax(symbol x, int axis = -1, TROUPE_AT);  ///< number -> int64: the first of equals. No gradient.
TROUPE_API symbol argmin(symbol x, int axis = -1, TROUPE_AT);

/// Cumulative sums along `axis`: y[i] = x[0] + ... + x[i]. `exclusive`: without x[i]. `reverse`: from the end. number.
struct cumsum_options {
  bool exclusive = false;
  bool reverse = false;
};
TROUPE_API symbol cumsum(symbol x, int axis = 0, cumsum_options options = {}, TROUPE_AT);

TROUPE_API symbol softmax(symbol x, TROUPE_AT);      ///< Over the last axis, floating.
TROUPE_API symbol log_softmax(symbol x, TROUPE_AT);  ///< Over the last axis, floating.

// -- shapes ----------------------------------------------------------------------
// Any dtype, unless a comment says otherwise. A negative axis counts from the end.

/// The same elements in another shape with the same product of extents, unknowns included. One -1 is inferred.
TROUPE_API symbol reshape(symbol x, symbol_shape dims, TROUPE_AT);
TROUPE_API symbol expand_dims(symbol x, int axis, TROUPE_AT);  ///< Inserts an axis of extent 1; -1: after the last.
TROUPE_API symbol squeeze(symbol x, std::vector<int> axes, TROUPE_AT);  ///< Drops these axes of extent 1.
TROUPE_API symbol broadcast_to(symbol x, symbol_shape dims, TROUPE_AT);
/// Axis i of the result is axis order[i] of x. An empty `order` reverses the axes.
TROUPE_API symbol transpose(symbol x, std::vector<int> order = {}, TROUPE_AT);
/// Joins operands along `axis`, in order. They have one dtype, and one shape except for the extent of `axis`, which
/// must be known. Without operands: an invalid symbol.
TROUPE_API symbol concat(std::span<const symbol> parts, int axis = -1, TROUPE_AT);
inline symbol concat(std::initializer_list<symbol> parts, int axis = -1, TROUPE_AT) {
  return concat(std::span{parts.begin(), parts.size()}, axis, at);
}
/// Joins operands of one shape along a new axis.
TROUPE_API symbol stack(std::span<const symbol> parts, int axis = 0, TROUPE_AT);
inline symbol stack(std::initializer_list<symbol> parts, int axis = 0, TROUPE_AT) {
  return stack(std::span{parts.begin(), parts.size()}, axis, at);
}
/// Divides x along `axis` into pieces with these extents, whose sum is the extent of `axis`.
TROUPE_API std::vector<symbol> split(symbol x, std::vector<int64_t> extents, int axis = -1, TROUPE_AT);
/// Elements [first, first + count) along `axis`, whose extent must be known.
TROUPE_API symbol slice(symbol x, int axis, int64_t first, int64_t count, TROUPE_AT);
/// For each axis, drops `low` elements at the beginning and `high` at the end, and keeps every `step`th of the rest. A
/// list has one entry for each axis, or is empty: nothing is dropped.
struct strided_slice_options {
  std::vector<int64_t> low = {}, high = {}, step = {};
};
TROUPE_API symbol strided_slice(symbol x, strided_slice_options options, TROUPE_AT);
/// For each axis, inserts `low` elements of `value` at the beginning, `high` at the end, `between` between neighbours:
/// the inverse of strided_slice.
struct pad_options {
  std::vector<int64_t> low = {}, high = {}, between = {};
  double value = 0;
};
TROUPE_API symbol pad(symbol x, pad_options options, TROUPE_AT);
/// Repeats x `times[i]` times along axis i.
TROUPE_API symbol tile(symbol x, std::vector<int64_t> times, TROUPE_AT);
TROUPE_API symbol reverse(symbol x, std::vector<int> axes, TROUPE_AT);
/// The elements of x [..., n, ...] at `indices` along `axis`: [..., indices..., ...]. Indices are int32 or int64 of any
/// shape. One outside [0, n) is an error of the step that names it (invalid_argument).
TROUPE_API symbol gather(symbol x, symbol indices, int axis = 0, TROUPE_AT);
/// number. Begins with zeros [n, ...] and adds each row of `updates` [indices..., ...] at its index, in order.
TROUPE_API symbol scatter_add(symbol indices, symbol updates, int64_t n, TROUPE_AT);
/// For each element of x, number: how many elements of `sorted` [n] are less, int32 in [0, n]; 0 for NaN. `sorted` is
/// ascending and has x's dtype; if it is not ascending, the results are any numbers in that range. No gradient.
TROUPE_API symbol search_sorted(symbol sorted, symbol x, TROUPE_AT);
/// indices int32, int64 or uint8 [...] -> floating [..., depth]: 1 at the index, 0 elsewhere; an index outside [0,
/// depth) gives zeros. No gradient.
TROUPE_API symbol one_hot(symbol indices, int64_t depth, dtype type = dtype::float32, TROUPE_AT);

// -- images ----------------------------------------------------------------------
// Images are floating [batch, height, width, channels]; all extents but the batch must be known.

/// `same`: the output has the extent of the input divided by the stride, rounded up; an odd element of padding comes
/// last (TensorFlow's rule). `valid`: no padding, only windows inside the image.
enum class padding : uint8_t { same, valid };

struct conv2d_options {
  std::array<int64_t, 2> strides{1, 1};   ///< Along height and width.
  std::array<int64_t, 2> dilation{1, 1};  ///< Distance between adjacent kernel elements.
  troupe::padding padding = padding::same;
  int64_t groups = 1;  ///< Group g of the outputs reads only group g of the channels.
};
/// kernel [kernel height, kernel width, channels / groups, outputs] -> [batch, height', width', outputs]:
/// y[b, i, j, o] = Σ x[b, i·stride + di·dilation - pad, ..., c] · kernel[di, dj, c, o].
TROUPE_API symbol conv2d(symbol x, symbol kernel, conv2d_options options = {}, TROUPE_AT);
/// Each channel by itself: kernel [kernel height, kernel width, channels, multiplier] -> [..., channels · multiplier].
TROUPE_API symbol depthwise_conv2d(symbol x, symbol kernel, conv2d_options options = {}, TROUPE_AT);
/// The transpose of conv2d with respect to its image: kernel [kernel height, kernel width, outputs / groups, channels],
/// x [batch, h, w, channels] -> [batch, height, width, outputs]. The height is that of Keras: h·stride with `same`, and
/// h·stride + max(reach - stride, 0) with `valid`, where reach = (kernel height - 1)·dilation + 1. An image of that
/// height gives height h in conv2d. The width likewise. Elements that no kernel reaches are 0.
TROUPE_API symbol conv2d_transpose(symbol x, symbol kernel, conv2d_options options = {}, TROUPE_AT);

struct pool_options {
  std::array<int64_t, 2> size{2, 2};  ///< Height and width.
  std::array<int64_t, 2> strides{2, 2};
  troupe::padding padding = padding::valid;
};
/// The maximum of each window and channel, padding excluded. The gradient goes to the first of equals.
TROUPE_API symbol max_pool(symbol x, pool_options options = {}, TROUPE_AT);
/// The mean of each window and channel, padding excluded.
TROUPE_API symbol average_pool(symbol x, pool_options options = {}, TROUPE_AT);
/// [batch, height, width, channels] -> [batch, channels]
TROUPE_API symbol global_max_pool(symbol x, TROUPE_AT);
TROUPE_API symbol global_average_pool(symbol x, TROUPE_AT);

// -- training --------------------------------------------------------------------

/// -log softmax(logits)[label]: labels int32, int64 or uint8 [b] in [0, classes), logits [b, classes] -> [b]. Labels
/// come first, as in losses.hpp. A label out of range is an error of the step (invalid_argument naming row and value).
TROUPE_API symbol sparse_softmax_cross_entropy(symbol labels, symbol logits, TROUPE_AT);
/// While `training`, sets each element to 0 with probability `rate`, in [0, 1), and scales the rest by 1 / (1 - rate);
/// else returns x. Drawn by seed, scoped name, step and shard. Srivastava et al. 2014.
TROUPE_API symbol dropout(symbol x, double rate, bool training, TROUPE_AT);

}  // namespace troupe
