// Changes of dtype, and stop_gradient.
#include "compute/operations/elementwise/elementwise.hpp"

#include <limits>

namespace troupe {
namespace {

template <class From, class To>
void cast_kernel(const kernel_call& c, run_state& s) {
  const From* x = c.to<const From>(s, 0);
  To* y = c.to<To>(s, 1);
  for (int64_t i = 0; i < c.n[0]; ++i)
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>)
      // Values out of range become the nearest one in range, and NaN becomes 0, so that there is no undefined
      // behaviour.
      y[i] = x[i] != x[i]                                                ? To{0}
             : x[i] >= static_cast<From>(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max()
             : x[i] <= static_cast<From>(std::numeric_limits<To>::min()) ? std::numeric_limits<To>::min()
                                                                         : static_cast<To>(x[i]);
    else if constexpr (std::is_same_v<To, bool>)
      y[i] = x[i] != From{0};
    else
      y[i] = static_cast<To>(x[i]);
}

template <class From>
kernel_function cast_from(dtype to) {
  switch (to) {
    case dtype::float32: return cast_kernel<From, float>;
    case dtype::float64: return cast_kernel<From, double>;
    case dtype::int32: return cast_kernel<From, int32_t>;
    case dtype::int64: return cast_kernel<From, int64_t>;
    case dtype::boolean: return cast_kernel<From, bool>;
    case dtype::uint8: return cast_kernel<From, uint8_t>;
  }
  return nullptr;
}

kernel_function cast_between(dtype from, dtype to) {
  switch (from) {
    case dtype::float32: return cast_from<float>(to);
    case dtype::float64: return cast_from<double>(to);
    case dtype::int32: return cast_from<int32_t>(to);
    case dtype::int64: return cast_from<int64_t>(to);
    case dtype::boolean: return cast_from<bool>(to);
    case dtype::uint8: return cast_from<uint8_t>(to);
  }
  return nullptr;
}

void lower_cast(lowering& l) {
  lower_elements(l);
  l.kernel.run = cast_between(l.in(0).type, l.out().type);
}

std::vector<symbol> cast_gradient(const gradient_input& in) {
  if (is_floating(in.x[0].type()) && is_floating(in.n.type))
    return {cast(in.dy, in.x[0].type(), in.at)};
  return {refuse(
      in.g, "cast",
      "no gradient between " + std::string{to_string(in.x[0].type())} + " and " + std::string{to_string(in.n.type)},
      in.n.at)};
}

}  // namespace

namespace ops {
const operation cast{.name = "cast", .gradient = cast_gradient, .lower = lower_cast, .elementwise = true};
const operation stop_gradient{.name = "stop_gradient",
                              .gradient = [](const gradient_input&) { return std::vector<symbol>{symbol{}}; },
                              .view = true};
}  // namespace ops

symbol cast(symbol x, dtype type, std::source_location at) {
  graph* g = common_graph("cast", {x}, at);
  if (!g || x.type() == type)
    return x;
  return append(*g, ops::cast, {x}, type, symbol_shape{x.dims()}, at);
}

symbol stop_gradient(symbol x, std::source_location at) {
  graph* g = common_graph("stop_gradient", {x}, at);
  return g ? append(*g, ops::stop_gradient, {x}, x.type(), symbol_shape{x.dims()}, at) : x;
}

}  // namespace troupe
