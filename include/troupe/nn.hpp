// Layers: operations with variables of their own, under a scope of their own.
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

struct dense_options {
  int64_t units = 0;
  troupe::activation activation = nullptr;  ///< None: linear.
  bool bias = true;
  initializer kernel = init::glorot_uniform();
  std::string name = "dense";
};
/// activation(x · kernel + bias); x [batch, n] -> [batch, units]. Variables `<name>/kernel` [n, units], `<name>/bias` [units].
TROUPE_API symbol dense(symbol x, dense_options options, TROUPE_AT);

}  // namespace troupe::nn
