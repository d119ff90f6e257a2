// The header of NumPy's array files, version 1.0: magic, version, length, a Python dict, spaces up to a multiple of 64 bytes.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// The bytes before the elements of a row-major array in a .npy file.
std::string npy_header(dtype type, const shape& dims);

}  // namespace troupe
