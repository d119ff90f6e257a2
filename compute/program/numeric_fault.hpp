// The cause of a non-finite step, as --debug-numerics reports it.
//
// The fault is where a non-finite value arises from finite ones: an operation, or, before all operations, a variable, a
// carried state, a component of the batch or a constant. A value that did not reach the loss or a gradient is no fault.
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
    state,      ///< A carried state: the step before carried it, or it was loaded.
    constant,
    sum,  ///< The gradient of a variable, or its assigned value: the parts are finite, their sum is not.
  } what = kind::operation;
  std::string name;                  ///< Scoped name of the node; or name of the variable, state or component.
  std::string value;                 ///< "nan at [3, 0]": the first non-finite element.
  int64_t row = -1;                  ///< feed, state: row in the batch.
  bool updated = false;              ///< variable: whether steps write it.
  bool assigned = false;             ///< sum: whether the model assigns it, not the optimizer.
  std::vector<std::string> details;  ///< One line each, for the notes of an error.
};

/// A sentence such as "the first operation with such a result is log_1: nan at [3, 0]".
std::string to_string(const numeric_fault& f);

/// The first variable of the layout whose part of a flat gradient is not finite, as a `sum`; nothing when all are
/// finite.
std::optional<numeric_fault> first_fault(const parameter_layout& layout, const std::byte* gradient);

/// For the error of a step that was not repeated: how to learn more.
inline constexpr const char* debug_numerics_hint =
    "debug_numerics (--debug-numerics) names the first operation, variable or row that was not finite";

}  // namespace troupe
