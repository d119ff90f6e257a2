// Each element-wise operation as a formula with its derivatives, evaluated at numbers where formulas break.
#pragma once

#include "compute/graph/graph.hpp"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace troupe::test {

/// Has enough digits and exponents that no intermediate result of a formula over float64 overflows or loses digits.
using real = long double;
using formula = std::function<real(real, real)>;

struct special_function {
  std::string name;  ///< The name of the operation, or of a composed function.
  std::string form;  ///< Which form, if the function has several.
  int operands = 1;
  std::function<symbol(const std::vector<symbol>&)> build;
  formula value;
  std::vector<formula> slopes = {};  ///< For each operand; empty if the value has no gradient.
  double ulps = 4, slope_ulps = 16;  ///< The greatest errors, in units in the last place of the right result.
  bool signed_zero = false;          ///< The sign of a zero result must be IEEE 754's.
};

/// All functions that are checked. The test fails if an element-wise operation is missing here.
std::vector<special_function> special_functions();

/// A place where an operation deviates from the formula: a row of the table in docs/compute.md.
struct known_difference {
  std::string id;                                         ///< The first column of the row.
  std::vector<std::string> functions;                     ///< The names of the functions.
  int slope = -1;                                         ///< The gradient of which operand; -1: the value.
  std::function<bool(real a, real b, real least)> where;  ///< `least`: the least normal number.
  formula given;                                          ///< The result there.
};
std::vector<known_difference> known_differences();

}  // namespace troupe::test
