// The files that a manifest lists, with the size and the checksum of the header of each. Used for checkpoints and
// exports.
#pragma once

#include "storage/files/file_system.hpp"

#include <nlohmann/json_fwd.hpp>

namespace troupe {

struct listed_file {
  std::string name;
  int64_t bytes = 0;
  /// Length of the header: in safetensors, the bytes before the first tensor; in JSON, the whole file.
  int64_t header_bytes = 0;
  uint32_t header_crc32c = 0;
  friend bool operator==(const listed_file&, const listed_file&) = default;
};

/// The file as JSON: {"name": ..., "bytes": ..., "header_bytes": ..., "header_crc32c": ...}
nlohmann::ordered_json to_json(const listed_file& f);
/// Absent if a size or the checksum is invalid. Throws json::exception if a member is missing or of another kind.
std::optional<listed_file> parse_listed_file(const nlohmann::json& j);

/// Opens the file in `directory`, and compares its size and the checksum of its header. Error: data_loss naming the
/// file and what differs.
expected<std::unique_ptr<readable_file>> open_listed_file(file_system& fs, const std::string& directory,
                                                          const listed_file& f);

}  // namespace troupe
