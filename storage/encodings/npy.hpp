// The header of NumPy's array files, version 1.0: magic, version, length, a Python dict, and spaces up to a multiple of
// 64 bytes.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// All bytes of a .npy file that come before the elements, for a row-major array.
std::string npy_header(dtype type, const shape& dims);

}  // namespace troupe
