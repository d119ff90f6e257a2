// Numbers beside symbols in expressions, such as 2 * x.
#include "compute/operations/elementwise/elementwise.hpp"

#include <cmath>
#include <limits>

namespace troupe {
namespace {

/// Whether type T can hold `value`: exactly if T is an integer, else rounded, but not to infinity.
template <class T>
bool holds(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return !std::isfinite(value) || std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max());
  } else {
    // As doubles both are exact: the least integer is 0 or minus a power of two, and the greatest plus 1 is a power of
    // two.
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return value >= least && value < beyond && value == std::trunc(value);
  }
}

/// The number as a scalar of the dtype; nothing if the dtype does not hold it.
template <class T>
std::optional<tensor> scalar_of(double value) {
  return holds<T>(value) ? std::optional{tensor::scalar(static_cast<T>(value))} : std::nullopt;
}

std::optional<tensor> scalar_of(dtype type, double value) {
  switch (type) {
    case dtype::float32: return scalar_of<float>(value);
    case dtype::float64: return scalar_of<double>(value);
    case dtype::int32: return scalar_of<int32_t>(value);
    case dtype::int64: return scalar_of<int64_t>(value);
    case dtype::uint8: return scalar_of<uint8_t>(value);
    case dtype::boolean: return {};
  }
  return {};
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  for (int digits = 1; digits < 17; ++digits) {  // The fewest digits that read back as the same number.
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

}  // namespace

symbol number_like(symbol x, double value, std::source_location at) {
  graph* g = common_graph("number_like", {x}, at);
  if (!g)
    return x;
  const auto scalar = scalar_of(x.type(), value);
  if (!scalar)
    return refuse(
        *g, "number_like",
        "no " + std::string{to_string(x.type())} + " holds the number " + text_of(value) + " beside " + describe(x),
        at);
  return g->constant(*scalar, at);
}

symbol operator*(left_operand a, double b) {
  if (!a.value.valid() || !is_floating(a.value.type()) || !scalar_of(a.value.type(), b))
    return mul(a.value, number_like(a.value, b, a.at), a.at);
  return scale(a.value, b, a.at);  // `scale` needs no constant, and no gradient for it.
}

}  // namespace troupe
