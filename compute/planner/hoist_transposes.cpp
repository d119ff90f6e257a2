// Transpose hoisting: a matrix that many small products take transposed is transposed once. Otherwise each product
// transposes it for itself, which costs relatively more the fewer rows the product has. Gradients of recurrent layers
// are such products, step after step.
#include "compute/planner/program_draft.hpp"

#include <map>

namespace troupe {
namespace {

constexpr size_t products_min = 4;
constexpr int64_t rows_max = 96;  ///< Products with more rows do not gain by the transposition.

bool takes_transposed(const program_draft& p, const planned_call& c) {
  return c.op == &ops::matmul && c.attr.transpose_b && p.value(c.out[0]).dims[0] <= rows_max;
}

}  // namespace

void hoist_transposes(program_draft& p) {
  std::map<int32_t, size_t> products;
  for (const auto& c : p.calls)
    if (takes_transposed(p, c))
      ++products[c.in[1]];
  std::map<int32_t, int32_t> turned;
  std::vector<planned_call> calls;
  for (auto& c : p.calls) {
    if (takes_transposed(p, c) && products[c.in[1]] >= products_min) {
      auto& found = turned.try_emplace(c.in[1], -1).first->second;
      if (found < 0) {
        planned_value v;
        const auto& b = p.value(c.in[1]);
        v.name = b.name + "/transposed";
        v.op = &ops::transpose;
        v.at = p.value(c.out[0]).at;
        v.gradient_of = p.value(c.out[0]).gradient_of;
        v.type = b.type;
        v.dims = {b.dims[1], b.dims[0]};
        p.values.push_back(std::move(v));
        found = static_cast<int32_t>(p.values.size()) - 1;
        planned_call transposed{.op = &ops::transpose, .in = {c.in[1]}, .out = {found}};
        transposed.attr.axes = {1, 0};
        calls.push_back(std::move(transposed));
      }
      c.in[1] = found;
      c.attr.transpose_b = false;
    }
    calls.push_back(std::move(c));
  }
  p.calls = std::move(calls);
}

}  // namespace troupe
