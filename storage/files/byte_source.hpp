// A file's content from the beginning to the end: as it is, or decompressed on the way through bounded buffers.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/record.hpp>

namespace troupe {

class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Fills as much of `into` as there is; fewer bytes only at the end. data_loss naming the file and the offset in it: a
  /// compressed stream that is corrupt, cut off or followed by other bytes. What earlier calls read counts all the same.
  virtual expected<size_t> read(std::span<std::byte> into) = 0;
  /// The whole content is not longer than this.
  virtual int64_t size_max() const noexcept = 0;
};

/// Of `file`, which must outlive it. resource_exhausted.
expected<std::unique_ptr<byte_source>> open_source(const readable_file& file, std::string path, compression how);

}  // namespace troupe
