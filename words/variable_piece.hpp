// Part of a variable or slot, on its way into a checkpoint.
#pragma once

#include <troupe/tensor.hpp>

#include <string>
#include <vector>

namespace troupe {

/// Consecutive elements of one variable or slot. The tensor shares the parameter store's memory.
struct variable_piece {
  std::string name;
  std::vector<int64_t> dims;  ///< Extents of the whole variable.
  int64_t first = 0;          ///< Index of the first element.
  bool trainable = false;
  tensor elements;  ///< Rank 1.
};

}  // namespace troupe
