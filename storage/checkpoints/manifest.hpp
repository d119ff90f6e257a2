// The manifest of one checkpoint: its files, the place of each tensor in them, and every checksum.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

struct manifest_file {
  std::string name;
  int64_t bytes = 0;
  int64_t header_bytes = 0;    ///< Bytes before the first tensor.
  uint32_t header_crc32c = 0;
};

struct manifest {
  checkpoint_id id;
  double wall_time = 0;        ///< When it was saved, in seconds since the epoch; 0: not in the manifest.
  std::vector<manifest_file> files;
  std::vector<stored_tensor_info> tensors;  ///< In the order in which the store received them.
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
};

/// JSON whose last member is the CRC-32C of the whole text with that member's digits as zeros. invalid_argument: a name
/// or a property is not UTF-8.
expected<std::string> write_manifest(const manifest& m);

/// Parses the output of `write_manifest` for `id`; the checksum is verified first. data_loss; unimplemented for a
/// later version of the format.
expected<manifest> parse_manifest(std::string text, const std::string& path, checkpoint_id id);

}  // namespace troupe
