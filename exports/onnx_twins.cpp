// The ONNX equivalent of each operation. Operations of gradients have none, except those that layers are made of.
#include "exports/onnx_attributes.hpp"
#include "exports/onnx_windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace troupe {

namespace {

using twin = std::optional<onnx_value> (*)(onnx_graph& g);
using namespace onnx_attributes;

// -- element by element --------------------------------------------------------------

std::optional<onnx_value> same(onnx_graph& g, const char* op) {
  std::vector<onnx_value> inputs;
  for (size_t i = 0; i < g.node().inputs.size(); ++i)
    inputs.push_back(g.in(i));
  return g.emit(op, inputs);
}

std::optional<onnx_value> not_equal(onnx_graph& g) { return g.emit("Not", {*same(g, "Equal")}); }
std::optional<onnx_value> square(onnx_graph& g) { return g.emit("Mul", {g.in(0), g.in(0)}); }
std::optional<onnx_value> rsqrt(onnx_graph& g) { return g.emit("Reciprocal", {g.emit("Sqrt", {g.in(0)})}); }

/// tanh(x/2) · (e^x + 1): near 0, e^x - 1 would lose all digits.
std::optional<onnx_value> expm1(onnx_graph& g) {
  const auto half = g.emit("Tanh", {g.emit("Mul", {g.in(0), g.number(0.5, type_of(g))})});
  return g.emit("Mul", {half, g.emit("Add", {g.emit("Exp", {g.in(0)}), g.number(1, type_of(g))})});
}

/// log(u) + (x - (u - 1)) / u with u = 1 + x: the second term restores what rounding took off u. It is left out where
/// nothing was lost, which includes -1 and infinity.
std::optional<onnx_value> log1p(onnx_graph& g) {
  const auto x = g.in(0), one = g.number(1, type_of(g));
  const auto u = g.emit("Add", {x, one}), left = g.emit("Sub", {u, one});
  const auto lost = g.emit("Div", {g.emit("Sub", {x, left}), u});
  const auto added = g.emit("Where", {g.emit("Equal", {left, x}), g.number(0, type_of(g)), lost});
  return g.emit("Add", {g.emit("Log", {u}), added});
}

std::optional<onnx_value> relu_gradient(onnx_graph& g) {
  const auto positive = g.emit("Greater", {g.in(1), g.number(0, type_of(g))});
  return g.emit("Where", {positive, g.in(0), g.number(0, type_of(g))});
}

/// x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³)))
std::optional<onnx_value> gelu_tanh(onnx_graph& g) {
  const auto x = g.in(0), cubed = g.emit("Mul", {g.emit("Mul", {x, x}), x});
  const auto inner = g.emit("Add", {x, g.emit("Mul", {cubed, g.number(0.044715, type_of(g))})});
  const auto turned = g.emit("Tanh", {g.emit("Mul", {inner, g.number(std::sqrt(2 / std::numbers::pi), type_of(g))})});
  const auto half = g.emit("Mul", {x, g.number(0.5, type_of(g))});
  return g.emit("Mul", {half, g.emit("Add", {turned, g.number(1, type_of(g))})});
}

std::optional<onnx_value> scale(onnx_graph& g) {
  const auto y = g.emit("Mul", {g.in(0), g.number(real(g, "number"), type_of(g))});
  const auto per = extents(g, "per");
  return per.empty() ? y : g.emit("Div", {y, g.product(per, type_of(g))});
}

std::optional<onnx_value> clip(onnx_graph& g) {
  return g.emit("Clip", {g.in(0), g.number(real(g, "number"), type_of(g)), g.number(real(g, "number2"), type_of(g))});
}

onnx_value cast_to(onnx_graph& g, const onnx_value& x, dtype type) {
  const auto y = g.emit("Cast", {x});
  g.set("to", int64_t{onnx_type(type)});
  return y;
}

/// A floating x to an integer. ONNX leaves the result open where it is out of range or NaN, so that x is first brought
/// into range; NaN becomes 0. Where the largest integer is no number of x's dtype, that dtype has the power of two
/// above it, and below that no number that is out of range.
template <class From, class To>
onnx_value saturated(onnx_graph& g) {
  constexpr auto lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
  constexpr bool exact = std::numeric_limits<To>::digits <= std::numeric_limits<From>::digits;
  const auto x = g.in(0), zero = g.constant(tensor::scalar(From{0})),
             number = g.emit("Where", {g.emit("IsNaN", {x}), zero, x});
  const auto end = static_cast<From>(highest), most = exact ? end : std::nextafter(end, From{0});
  const auto low = g.constant(tensor::scalar(static_cast<From>(lowest))), high = g.constant(tensor::scalar(most));
  const auto y = cast_to(g, g.emit("Clip", {number, low, high}), type_of(g));
  if (exact)
    return y;
  const auto above = g.emit("GreaterOrEqual", {x, g.constant(tensor::scalar(end))});
  return g.emit("Where", {above, g.constant(tensor::scalar(highest)), y});
}

template <class From>
onnx_value cast_from(onnx_graph& g) {
  switch (type_of(g)) {
    case dtype::int32: return saturated<From, int32_t>(g);
    case dtype::int64: return saturated<From, int64_t>(g);
    case dtype::uint8: return saturated<From, uint8_t>(g);
    default: return cast_to(g, g.in(0), type_of(g));
  }
}

std::optional<onnx_value> cast(onnx_graph& g) {
  switch (g.input(0).type) {
    case dtype::float32: return cast_from<float>(g);
    case dtype::float64: return cast_from<double>(g);
    default: return cast_to(g, g.in(0), type_of(g));
  }
}

/// ONNX has an order of numbers only, of which uint8 keeps that of false and true.
std::optional<onnx_value> ordered(onnx_graph& g, const char* op) {
  const auto operand = [&g](size_t i) {
    return g.input(i).type == dtype::boolean ? cast_to(g, g.in(i), dtype::uint8) : g.in(i);
  };
  const auto a = operand(0), b = operand(1);
  return g.emit(op, {a, b});
}

// -- products ------------------------------------------------------------------------

std::optional<onnx_value> matmul(onnx_graph& g) {
  const bool a = flag(g, "transpose_a"), b = flag(g, "transpose_b");
  if (!a && !b)
    return g.emit("MatMul", {g.in(0), g.in(1)});
  const auto y = g.emit("Gemm", {g.in(0), g.in(1)});
  g.set("transA", int64_t{a});
  g.set("transB", int64_t{b});
  return y;
}

std::optional<onnx_value> batched_matmul(onnx_graph& g) {
  const auto operand = [&](size_t i, const char* name) {
    return flag(g, name) ? g.transposed(g.in(i), {0, 2, 1}) : g.in(i);
  };
  const auto a = operand(0, "transpose_a"), b = operand(1, "transpose_b");
  return g.emit("MatMul", {a, b});
}

// -- reductions and rows -------------------------------------------------------------

std::optional<onnx_value> reduce(onnx_graph& g, const char* op) {
  const auto axes = ints(g, "axes");
  if (axes.empty())
    return g.emit("Identity", {g.in(0)});
  const bool sum = std::string_view{op} == "ReduceSum";  // Its axes are an operand in this opset.
  const auto over = sum ? g.numbers(axes) : onnx_value{};
  const auto y = sum ? g.emit(op, {g.in(0), over}) : g.emit(op, {g.in(0)});
  if (!sum)
    g.set("axes", axes);
  g.set("keepdims", int64_t{flag(g, "keep")});
  return y;
}

std::optional<onnx_value> extreme(onnx_graph& g, const char* op) {
  const auto y = g.emit(op, {g.in(0)});
  g.set("axis", ints(g, "axes")[0]);
  g.set("keepdims", int64_t{0});
  return y;
}

std::optional<onnx_value> cumsum(onnx_graph& g) {
  const auto y = g.emit("CumSum", {g.in(0), g.number(static_cast<double>(integer(g, "axis")), dtype::int64)});
  g.set("exclusive", int64_t{flag(g, "exclusive")});
  g.set("reverse", int64_t{flag(g, "reverse")});
  return y;
}

std::optional<onnx_value> softmax(onnx_graph& g, const char* op) {
  const auto y = g.emit(op, {g.in(0)});
  g.set("axis", int64_t{-1});
  return y;
}

std::optional<onnx_value> normalise_rows(onnx_graph& g) {
  const extent& last = g.node().dims.back();
  if (!last.known())
    return {};
  const auto n = static_cast<size_t>(last.coefficient);
  const std::vector<double> wide(n, 1);
  const std::vector<float> narrow(n, 1);
  const shape dims{last.coefficient};
  const auto ones = type_of(g) == dtype::float64 ? tensor::of<double>(dims, std::span{wide})
                                                 : tensor::of<float>(dims, std::span{narrow});
  const auto y = g.emit("LayerNormalization", {g.in(0), g.constant(ones)});
  g.set("axis", int64_t{-1});
  g.set("epsilon", real(g, "number"));
  return y;
}

// -- shapes --------------------------------------------------------------------------

std::optional<onnx_value> reshape(onnx_graph& g) {
  const auto& dims = g.node().dims;
  const bool empty = std::any_of(dims.begin(), dims.end(), [](const extent& e) { return e.coefficient == 0; });
  const auto unknowns = std::count_if(dims.begin(), dims.end(), [](const extent& e) { return !e.known(); });
  list extents_of;
  for (const extent& e : dims)
    extents_of.push_back(e.known() ? e.coefficient : -1);
  const auto to = unknowns == 1 && !empty ? g.numbers(extents_of) : g.shape_of(dims);
  const auto y = g.emit("Reshape", {g.in(0), to});
  if (empty)
    g.set("allowzero", int64_t{1});
  return y;
}

std::optional<onnx_value> broadcast_to(onnx_graph& g) {
  const auto to = g.shape_of(g.node().dims);
  return g.emit("Expand", {g.in(0), to});
}

std::optional<onnx_value> transpose(onnx_graph& g) { return g.transposed(g.in(0), ints(g, "axes")); }

std::optional<onnx_value> slices(onnx_graph& g, const list& starts, const list& ends, const list& axes,
                                 const list& steps) {
  if (axes.empty())
    return g.emit("Identity", {g.in(0)});
  return g.emit("Slice", {g.in(0), g.numbers(starts), g.numbers(ends), g.numbers(axes), g.numbers(steps)});
}

std::optional<onnx_value> reverse(onnx_graph& g) {
  const auto axes = ints(g, "axes");
  return slices(g, list(axes.size(), -1), list(axes.size(), std::numeric_limits<int64_t>::min()), axes,
                list(axes.size(), -1));
}

std::optional<onnx_value> strided_slice(onnx_graph& g) {
  const auto low = ints(g, "low"), high = ints(g, "high"), step = ints(g, "step");
  const auto& x = g.input(0).dims;
  list starts, ends, axes, steps;
  for (size_t a = 0; a < x.size(); ++a)
    if (low[a] != 0 || high[a] != 0 || step[a] != 1) {
      starts.push_back(low[a]);
      ends.push_back(known(x[a]) - high[a]);
      axes.push_back(static_cast<int64_t>(a));
      steps.push_back(step[a]);
    }
  return slices(g, starts, ends, axes, steps);
}

std::optional<onnx_value> pad(onnx_graph& g) {
  auto pads = ints(g, "low");
  const auto high = ints(g, "high"), step = ints(g, "step");
  if (std::any_of(step.begin(), step.end(), [](int64_t s) { return s != 1; }))
    return {};
  pads.insert(pads.end(), high.begin(), high.end());
  return g.emit("Pad", {g.in(0), g.numbers(pads), g.number(real(g, "number"), type_of(g))});
}

std::optional<onnx_value> tile(onnx_graph& g) { return g.emit("Tile", {g.in(0), g.numbers(ints(g, "step"))}); }

std::optional<onnx_value> concat(onnx_graph& g) {
  const auto y = same(g, "Concat");
  g.set("axis", integer(g, "axis"));
  return y;
}

std::optional<onnx_value> gather(onnx_graph& g) {
  const auto y = same(g, "Gather");
  g.set("axis", integer(g, "axis"));
  return y;
}

/// Compares with 0, 1, ...: ONNX's OneHot counts negative indices from the end, while here they give a row of zeros.
std::optional<onnx_value> one_hot(onnx_graph& g) {
  list counted(static_cast<size_t>(known(g.node().dims.back())));
  for (size_t i = 0; i < counted.size(); ++i)
    counted[i] = static_cast<int64_t>(i);
  const auto wide = cast_to(g, g.in(0), dtype::int64);
  const auto column = g.emit("Unsqueeze", {wide, g.numbers({-1})});
  const auto equal = g.emit("Equal", {column, g.numbers(counted)});
  return cast_to(g, equal, type_of(g));
}

// -- the table -----------------------------------------------------------------------

/// An operation with one ONNX node of another name and the same operands.
#define TROUPE_SAME(operation, name)                       \
  {                                                        \
    operation, [](onnx_graph& g) { return same(g, name); } \
  }

const std::map<std::string_view, twin>& twins() {
  static const std::map<std::string_view, twin> all{
      TROUPE_SAME("add", "Add"),
      TROUPE_SAME("sub", "Sub"),
      TROUPE_SAME("mul", "Mul"),
      TROUPE_SAME("div", "Div"),
      TROUPE_SAME("pow", "Pow"),
      TROUPE_SAME("maximum", "Max"),
      TROUPE_SAME("minimum", "Min"),
      TROUPE_SAME("equal", "Equal"),
      TROUPE_SAME("logical_and", "And"),
      TROUPE_SAME("logical_or", "Or"),
      TROUPE_SAME("logical_not", "Not"),
      TROUPE_SAME("select", "Where"),
      TROUPE_SAME("neg", "Neg"),
      TROUPE_SAME("exp", "Exp"),
      TROUPE_SAME("log", "Log"),
      TROUPE_SAME("sqrt", "Sqrt"),
      TROUPE_SAME("abs", "Abs"),
      TROUPE_SAME("sign", "Sign"),
      TROUPE_SAME("floor", "Floor"),
      TROUPE_SAME("erf", "Erf"),
      TROUPE_SAME("relu", "Relu"),
      TROUPE_SAME("sigmoid", "Sigmoid"),
      TROUPE_SAME("softplus", "Softplus"),
      TROUPE_SAME("tanh", "Tanh"),
      TROUPE_SAME("stop_gradient", "Identity"),
      TROUPE_SAME("check_numerics", "Identity"),
      {"not_equal", not_equal},
      {"less", [](onnx_graph& g) { return ordered(g, "Less"); }},
      {"less_equal", [](onnx_graph& g) { return ordered(g, "LessOrEqual"); }},
      {"greater", [](onnx_graph& g) { return ordered(g, "Greater"); }},
      {"greater_equal", [](onnx_graph& g) { return ordered(g, "GreaterOrEqual"); }},
      {"square", square},
      {"rsqrt", rsqrt},
      {"expm1", expm1},
      {"log1p", log1p},
      {"relu_gradient", relu_gradient},
      {"gelu_tanh", gelu_tanh},
      {"scale", scale},
      {"clip", clip},
      {"cast", cast},
      {"matmul", matmul},
      {"batched_matmul", batched_matmul},
      {"reduce_sum", [](onnx_graph& g) { return reduce(g, "ReduceSum"); }},
      {"reduce_max", [](onnx_graph& g) { return reduce(g, "ReduceMax"); }},
      {"reduce_min", [](onnx_graph& g) { return reduce(g, "ReduceMin"); }},
      {"reduce_prod", [](onnx_graph& g) { return reduce(g, "ReduceProd"); }},
      {"argmax", [](onnx_graph& g) { return extreme(g, "ArgMax"); }},
      {"argmin", [](onnx_graph& g) { return extreme(g, "ArgMin"); }},
      {"cumsum", cumsum},
      {"softmax", [](onnx_graph& g) { return softmax(g, "Softmax"); }},
      {"log_softmax", [](onnx_graph& g) { return softmax(g, "LogSoftmax"); }},
      {"normalise_rows", normalise_rows},
      {"reshape", reshape},
      {"broadcast_to", broadcast_to},
      {"transpose", transpose},
      {"reverse", reverse},
      {"strided_slice", strided_slice},
      {"pad", pad},
      {"tile", tile},
      {"concat", concat},
      {"gather", gather},
      {"one_hot", one_hot},
      {"conv2d", [](onnx_graph& g) { return std::optional{onnx_conv2d(g)}; }},
      {"conv2d_image_gradient", [](onnx_graph& g) { return std::optional{onnx_conv2d_image_gradient(g)}; }},
      {"max_pool", [](onnx_graph& g) { return std::optional{onnx_pool(g, "MaxPool")}; }},
      {"average_pool", [](onnx_graph& g) { return std::optional{onnx_pool(g, "AveragePool")}; }},
  };
  return all;
}

#undef TROUPE_SAME

}  // namespace

std::optional<onnx_value> onnx_twin(onnx_graph& g) {
  const auto found = twins().find(g.node().operation);
  return found == twins().end() ? std::nullopt : found->second(g);
}

}  // namespace troupe
