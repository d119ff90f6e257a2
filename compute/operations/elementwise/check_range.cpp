// An identity that fails the run if an element lies outside of a range. The error names the node, the message, the
// element and the range.
#include "compute/operations/elementwise/elementwise.hpp"

#include <cmath>
#include <cstring>

namespace troupe {
namespace {

template <class T>
void check_range_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  const auto fits = [&](T value) {
    // A double cannot hold every int64, but it holds each finite bound exactly, so int64 are compared.
    if constexpr (std::is_same_v<T, int64_t>)
      return (std::isinf(c.number) || value >= static_cast<int64_t>(c.number))
             && (std::isinf(c.number2) || value <= static_cast<int64_t>(c.number2));
    else
      return static_cast<double>(value) >= c.number && static_cast<double>(value) <= c.number2
             && std::isfinite(static_cast<double>(value));
  };
  bool all = true;
  for (int64_t i = 0; i < c.n[0]; ++i)
    all &= fits(x[i]);
  for (int64_t i = 0; !all && !s.bad.call; ++i)
    if (!fits(x[i]))
      s.bad = {.call = &c, .index = i, .number = static_cast<double>(x[i])};
  if (x != y)
    std::memcpy(y, x, static_cast<size_t>(c.n[0]) * sizeof(T));
}

void lower_check_range(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = l.out().dims.elements();
  l.kernel.number = l.call.attr.number;
  l.kernel.number2 = l.call.attr.number2;
  l.run(l.out().type, check_range_kernel<float>, check_range_kernel<double>, check_range_kernel<int32_t>,
        check_range_kernel<int64_t>);
}

}  // namespace

namespace ops {
const operation check_range{.name = "check_range",
                            .gradient = [](const gradient_input& in) { return std::vector<symbol>{in.dy}; },
                            .lower = lower_check_range,
                            .in_place = true};
}  // namespace ops

symbol check_range(symbol x, double least, double greatest, std::string_view message, std::source_location at) {
  graph* g = common_graph("check_range", {x}, at);
  if (!g)
    return x;
  if (!is_number(x.type()))
    return refuse(*g, "check_range", "its operand must be a number, not " + describe(x), at);
  const auto whole = [](double bound) {
    return std::isinf(bound) || (std::floor(bound) == bound && std::abs(bound) <= 0x1p53);
  };
  if (!(least <= greatest) || (is_integer(x.type()) && (!whole(least) || !whole(greatest))))
    return refuse(*g, "check_range",
                  "least must be at most greatest, and both whole numbers for an integer operand, not "
                      + std::to_string(least) + " and " + std::to_string(greatest) + " for " + describe(x),
                  at);
  attributes attr;
  attr.number = least;
  attr.number2 = greatest;
  attr.key = message;
  return append(*g, ops::check_range, {x}, x.type(), symbol_shape{x.dims()}, at, std::move(attr));
}

}  // namespace troupe
