// The files that a manifest lists, each with its size and the checksum of its beginning: of checkpoints and of exports.
#pragma once

#include "storage/files/file_system.hpp"

#include <nlohmann/json_fwd.hpp>

namespace troupe {

struct listed_file {
  std::string name;
  int64_t bytes = 0;
  int64_t header_bytes = 0;    ///< From the beginning: of safetensors those before the first tensor, of JSON all.
  uint32_t header_crc32c = 0;
  friend bool operator==(const listed_file&, const listed_file&) = default;
};

/// {"name": ..., "bytes": ..., "header_bytes": ..., "header_crc32c": ...}
nlohmann::ordered_json to_json(const listed_file& f);
/// Nothing where sizes or checksum cannot be; json::exception for a member that is missing or of another kind.
std::optional<listed_file> parse_listed_file(const nlohmann::json& j);

/// Opens the file in `directory` and compares its size and the checksum of its header. data_loss, naming the file and what differs.
expected<std::unique_ptr<readable_file>> open_listed_file(file_system& fs, const std::string& directory, const listed_file& f);

}  // namespace troupe
