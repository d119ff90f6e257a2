// Each element-wise operation as a formula, with its derivatives, to be asked at numbers where formulas break.
#pragma once

#include "compute/graph/graph.hpp"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace troupe::test {

/// Has digits and exponents enough that no step of a formula over float64 overflows or is lost.
using real = long double;
using formula = std::function<real(real, real)>;

struct special_function {
  std::string name;    ///< Of the operation, or of a function that consists of several.
  std::string form;    ///< Which of its forms, where it has several.
  int operands = 1;
  std::function<symbol(const std::vector<symbol>&)> build;
  formula value;
  std::vector<formula> slopes = {};  ///< Of each operand; none: the value has no gradient.
  double ulps = 4, slope_ulps = 16;  ///< How far off a result may be, in units of the last place of the right one.
  bool signed_zero = false;          ///< IEEE 754 gives the value's zeros a sign.
};

/// All that are checked. An element-wise operation that is missing here fails the test.
std::vector<special_function> special_functions();

/// A place where an operation does not give the formula's number: a row of the table in docs/compute.md.
struct known_difference {
  std::string id;                          ///< The row's first column.
  std::vector<std::string> functions;      ///< Names.
  int slope = -1;                          ///< Of which operand it is the gradient; -1: the value.
  std::function<bool(real a, real b, real least)> where;  ///< `least`: the least normal number of the dtype.
  formula given;                           ///< What is given there.
};
std::vector<known_difference> known_differences();

}  // namespace troupe::test
