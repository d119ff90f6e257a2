// What the gradient rules of operations are checked with: expressions by the name of the operation.
#pragma once

#include "compute/operation.hpp"

#include <functional>
#include <map>

namespace troupe::test {

/// An expression of inputs whose shapes are given; `shift` moves the inputs away from where a function has no gradient.
struct check {
  std::vector<shape> inputs;
  std::function<symbol(graph&, const std::vector<symbol>&)> build;
  double factor = 1, shift = 0;
  bool second = true;  ///< Check the gradient of the gradient as well.
};

using checks_of = std::map<std::string_view, std::vector<check>>;

/// Of every operation that has a gradient.
const checks_of& gradient_checks();

}  // namespace troupe::test
