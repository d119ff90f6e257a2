#include "compute/program/numeric_fault.hpp"

#include "compute/kernels/element_text.hpp"
#include "compute/parameters/parameter_store.hpp"

namespace troupe {

std::string to_string(const numeric_fault& f) {
  switch (f.what) {
    case numeric_fault::kind::operation: return "the first operation with such a result is " + f.name + ": " + f.value;
    case numeric_fault::kind::variable: return "variable " + f.name + " has " + f.value;
    case numeric_fault::kind::feed:
      return "row " + std::to_string(f.row) + " of the batch has " + f.value + " in component " + f.name;
    case numeric_fault::kind::state:
      return "row " + std::to_string(f.row) + " of the batch has " + f.value + " in the carried state " + f.name;
    case numeric_fault::kind::constant: return "the model's " + f.name + " has " + f.value;
    default:
      return (f.assigned ? "what is assigned to variable " : "the gradient of variable ") + f.name + " has " + f.value;
  }
}

std::optional<numeric_fault> first_fault(const parameter_layout& layout, const std::byte* gradient) {
  for (const auto& e : layout.entries()) {
    if (e.gradient_offset < 0)
      continue;
    const auto* at = gradient + e.gradient_offset;
    if (const auto bad = count_not_finite(e.type, at, e.dims.elements()); bad.count > 0)
      return numeric_fault{.what = numeric_fault::kind::sum,
                           .name = e.name,
                           .value = element_text(e.type, at, bad.first) + index_text(e.dims, bad.first),
                           .assigned = !e.trainable};
  }
  return std::nullopt;
}

}  // namespace troupe
