// An identity that fails the run if an element is not finite. The error names the node, the message and the element.
#include "compute/kernels/element_text.hpp"
#include "compute/kernels/finite.hpp"
#include "compute/operations/lowering.hpp"

namespace troupe {
namespace {

template <class T>
void check_numerics_kernel(const kernel_call& c, run_state& s) {
  constexpr dtype type = dtype_of<T>::value;
  const auto* x = c.to<const std::byte>(s, 0);
  auto* y = c.to<std::byte>(s, 1);
  if (!s.bad.call && !all_finite(type, x, c.n[0])) {
    const int64_t at = count_not_finite(type, x, c.n[0]).first;
    s.bad = {.call = &c, .index = at, .number = static_cast<double>(reinterpret_cast<const T*>(x)[at])};
  }
  if (x != y)
    std::memcpy(y, x, static_cast<size_t>(c.n[0]) * sizeof(T));
}

void lower_check_numerics(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = l.out().dims.elements();
  l.run(l.out().type, check_numerics_kernel<float>, check_numerics_kernel<double>);
}

}  // namespace

namespace ops {
const operation check_numerics{
    .name = "check_numerics",
    .gradient =
        [](const gradient_input& in) {
          return std::vector<symbol>{troupe::check_numerics(in.dy, "gradient of " + in.n.attr.key, in.at)};
        },
    .lower = lower_check_numerics,
    .in_place = true};
}  // namespace ops

symbol check_numerics(symbol x, std::string_view message, std::source_location at) {
  graph* g = common_graph("check_numerics", {x}, at);
  if (!g)
    return x;
  if (!is_floating(x.type()))
    return refuse(*g, "check_numerics", "its operand must be floating, not " + describe(x), at);
  attributes attr;
  attr.key = message;
  return append(*g, ops::check_numerics, {x}, x.type(), symbol_shape{x.dims()}, at, std::move(attr));
}

}  // namespace troupe
