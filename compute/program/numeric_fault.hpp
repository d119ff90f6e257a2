// What made a step not finite: the answer of --debug-numerics.
//
// A value that is not finite is nobody's fault but of whoever made it of finite ones: an operation, or, before all
// operations, a variable, a component of the batch or a constant. One that did not reach the loss or a gradient is no fault.
#pragma once

#include <troupe/tensor.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe {

class parameter_layout;

struct numeric_fault {
  enum class kind : uint8_t {
    operation,  ///< Its operands are finite, what it yields is not.
    variable,   ///< It was not finite when the step began.
    feed,       ///< A component of the batch.
    constant,
    sum,        ///< The gradient of a variable, or what is assigned to it: every part is finite, their sum is not.
  } what = kind::operation;
  std::string name;                  ///< Of the node, scoped; of the variable or component.
  std::string value;                 ///< "nan at [3, 0]": the first that is not finite.
  int64_t row = -1;                  ///< feed: in the batch.
  bool updated = false;              ///< variable: steps write it.
  bool assigned = false;             ///< sum: by the model, not by the optimizer.
  std::vector<std::string> details;  ///< A line each, for the notes of an error.
};

/// "the first operation to yield one that is not is log_1: nan at [3, 0]".
std::string to_string(const numeric_fault& f);

/// The first variable in the layout whose part of a flat gradient is not finite, as a `sum`; nothing when all is finite.
std::optional<numeric_fault> first_fault(const parameter_layout& layout, const std::byte* gradient);

/// For the error of a step that was not made again: how to learn more.
inline constexpr const char* debug_numerics_hint = "debug_numerics (--debug-numerics) names the first operation, variable or row that was not finite";

}  // namespace troupe
