// The manifest of one checkpoint: its files, the place of each tensor in them, and every checksum.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/encodings/listed_files.hpp"

namespace troupe {

/// A manifest has the positions of inputs in it, which other records have not.
inline constexpr int64_t manifest_bytes_max = int64_t{1} << 30;

struct manifest {
  checkpoint_id id;
  double wall_time = 0;  ///< When the state was saved, in seconds since the epoch; 0: not in the manifest.
  std::vector<listed_file> files;
  std::vector<stored_tensor_info> tensors;  ///< In the order in which the store received them.
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
};

/// The manifest as JSON. Its last member is the CRC-32C of the whole text, with zeros in place of the member's digits.
/// Error: invalid_argument if a name or a property is not UTF-8.
expected<std::string> write_manifest(const manifest& m);

/// Parses the output of `write_manifest` for `id`; the checksum is verified first. Errors: data_loss; unimplemented for
/// a later version of the format.
expected<manifest> parse_manifest(std::string text, const std::string& path, checkpoint_id id);

}  // namespace troupe
