// Reads IDX, the format of MNIST: two zero bytes, an element type, a rank, big-endian 32-bit extents, then the
// elements.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/tensor.hpp>

namespace troupe {

/// Reads an IDX file of unsigned bytes and rank 1 to 4, plain or compressed with gzip (detected by its first bytes).
/// Extents that do not fit the file are rejected before memory is allocated. Errors: not_found; data_loss naming file
/// and offset: another magic number, element type or rank, a truncated file, trailing bytes, a corrupt gzip stream.
expected<tensor> read_idx(file_system& fs, const std::string& path);

}  // namespace troupe
