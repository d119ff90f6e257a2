// manifest.json of an export: its files with sizes and checksums. It is written last. Byte layout:
// docs/export_format.md.
#pragma once

#include "storage/encodings/listed_files.hpp"

namespace troupe {

inline constexpr std::string_view manifest_file_name = "manifest.json";

/// The manifest as JSON that ends in its own checksum.
std::string write_export_manifest(const std::vector<listed_file>& files);
/// Parses the output of `write_export_manifest`; the checksum is verified first. Errors: data_loss naming `path`;
/// unimplemented for a later version.
expected<std::vector<listed_file>> parse_export_manifest(std::string text, const std::string& path);

}  // namespace troupe
