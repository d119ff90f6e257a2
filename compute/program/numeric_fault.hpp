// The cause of a non-finite step: the answer of --debug-numerics.
//
// The fault is where a non-finite value arises from finite ones: an operation, or, before all operations, a variable, a
// component of the batch or a constant. A value that did not reach the loss or a gradient is no fault.
#pragma once

#include <troupe/tensor.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe {

class parameter_layout;

struct numeric_fault {
  enum class kind : uint8_t {
    operation,  ///< Its operands are finite, its result is not.
    variable,   ///< It was not finite when the step began.
    feed,       ///< A component of the batch.
    constant,
    sum,        ///< The gradient of a variable, or its assigned value: the parts are finite, their sum is not.
  } what = kind::operation;
  std::string name;                  ///< Scoped name of the node; or name of the variable or component.
  std::string value;                 ///< "nan at [3, 0]": the first non-finite element.
  int64_t row = -1;                  ///< feed: row in the batch.
  bool updated = false;              ///< variable: steps write it.
  bool assigned = false;             ///< sum: assigned by the model, not by the optimizer.
  std::vector<std::string> details;  ///< A line each, for the notes of an error.
};

/// "the first operation to yield one that is not is log_1: nan at [3, 0]".
std::string to_string(const numeric_fault& f);

/// The first variable in the layout whose part of a flat gradient is not finite, as a `sum`; nothing when all is finite.
std::optional<numeric_fault> first_fault(const parameter_layout& layout, const std::byte* gradient);

/// A hint for the error of a step that was not repeated: how to learn more.
inline constexpr const char* debug_numerics_hint = "debug_numerics (--debug-numerics) names the first operation, variable or row that was not finite";

}  // namespace troupe
