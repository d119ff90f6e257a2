// Reads the content of a file from beginning to end, plain or decompressed, through bounded buffers.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/tfrecord.hpp>

namespace troupe {

class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Fills `into` as far as possible; fewer bytes only at the end. Error: data_loss naming the file and the offset in
  /// it: a compressed stream that is corrupt, truncated or followed by other bytes. Bytes of earlier calls remain
  /// valid.
  virtual expected<size_t> read(std::span<std::byte> into) = 0;
  /// An upper bound for the length of the whole content.
  virtual int64_t size_max() const noexcept = 0;
};

/// Opens the content of `file`, which must outlive the source. Error: resource_exhausted.
expected<std::unique_ptr<byte_source>> open_source(const readable_file& file, std::string path, compression how);

}  // namespace troupe
