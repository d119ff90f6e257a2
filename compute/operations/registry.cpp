// Source operations, operations that only the planner makes, and the list of all operations of a graph.
#include "compute/operations/walk.hpp"

namespace troupe {
namespace {

template <class T>
void fill_kernel(const kernel_call& c, run_state& s) {
  std::fill_n(c.to<T>(s, 0), c.n[0], static_cast<T>(c.number));
}

void lower_fill(lowering& l) {
  l.kernel.at[0] = l.out_at();
  l.kernel.n[0] = l.out().dims.elements();
  l.division = {.items = l.kernel.n[0], .unit = elements_chunk, .step = {size_of(l.out().type)}};
  l.kernel.number = l.call.attr.number;
  l.run(l.out().type, fill_kernel<float>, fill_kernel<double>);
}

void copy_kernel(const kernel_call& c, run_state& s) {
  std::memcpy(c.to<std::byte>(s, 1), c.to<const std::byte>(s, 0), static_cast<size_t>(c.n[0]));
}

void lower_copy(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = l.out().bytes();
  l.division = {.items = l.kernel.n[0], .unit = elements_chunk, .step = {1, 1}};
  l.kernel.run = copy_kernel;
}

}  // namespace

namespace ops {
const operation placeholder{.name = "placeholder", .no_gradient = "a source"};
const operation constant{.name = "constant", .no_gradient = "a source"};
const operation variable{.name = "variable", .no_gradient = "a source"};
const operation state{.name = "state", .no_gradient = "a source"};
const operation fill_value{.name = "fill_value", .no_gradient = "made by the planner", .lower = lower_fill};
const operation copy{.name = "copy", .no_gradient = "made by the planner", .lower = lower_copy};
}  // namespace ops

std::span<const operation* const> operations() {
  static constexpr const operation* all[] = {
      &ops::placeholder,
      &ops::constant,
      &ops::variable,
      &ops::state,
      &ops::matmul,
      &ops::batched_matmul,
      &ops::add,
      &ops::sub,
      &ops::mul,
      &ops::div,
      &ops::pow,
      &ops::maximum,
      &ops::minimum,
      &ops::relu_gradient,
      &ops::equal,
      &ops::not_equal,
      &ops::less,
      &ops::less_equal,
      &ops::greater,
      &ops::greater_equal,
      &ops::logical_and,
      &ops::logical_or,
      &ops::logical_not,
      &ops::select,
      &ops::neg,
      &ops::exp,
      &ops::expm1,
      &ops::log,
      &ops::log1p,
      &ops::sqrt,
      &ops::rsqrt,
      &ops::square,
      &ops::abs,
      &ops::sign,
      &ops::floor,
      &ops::erf,
      &ops::scale,
      &ops::clip,
      &ops::relu,
      &ops::sigmoid,
      &ops::softplus,
      &ops::tanh,
      &ops::gelu_tanh,
      &ops::gelu_tanh_gradient,
      &ops::cast,
      &ops::stop_gradient,
      &ops::check_numerics,
      &ops::check_range,
      &ops::reduce_sum,
      &ops::reduce_max,
      &ops::reduce_min,
      &ops::reduce_prod,
      &ops::product_without,
      &ops::product_without_gradient,
      &ops::argmax,
      &ops::argmin,
      &ops::cumsum,
      &ops::softmax,
      &ops::log_softmax,
      &ops::normalise_rows,
      &ops::normalise_rows_gradient,
      &ops::reshape,
      &ops::broadcast_to,
      &ops::transpose,
      &ops::reverse,
      &ops::strided_slice,
      &ops::pad,
      &ops::tile,
      &ops::concat,
      &ops::gather,
      &ops::scatter_add,
      &ops::one_hot,
      &ops::search_sorted,
      &ops::sparse_softmax_cross_entropy,
      &ops::cross_entropy_gradient,
      &ops::dropout,
      &ops::conv2d,
      &ops::conv2d_image_gradient,
      &ops::conv2d_kernel_gradient,
      &ops::max_pool,
      &ops::max_pool_pick,
      &ops::max_pool_gradient,
      &ops::average_pool,
      &ops::average_pool_gradient,
  };
  return all;
}

}  // namespace troupe
