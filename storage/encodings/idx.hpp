// IDX, the format of MNIST: two zero bytes, an element type, a rank, big-endian 32-bit extents, then the elements.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/tensor.hpp>

namespace troupe {

/// An IDX file of unsigned bytes and rank 1 to 4, plain or compressed by gzip (told by its first bytes). not_found;
/// data_loss naming file and offset: a magic number of another format, element type or rank, truncated, trailing bytes,
/// a gzip stream that is corrupt. Sizes that the file cannot have are refused before allocating.
expected<tensor> read_idx(file_system& fs, const std::string& path);

}  // namespace troupe
