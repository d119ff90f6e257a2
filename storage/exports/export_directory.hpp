// Exported models on disk. Each is a directory whose name is a number. It appears whole or not at all.
//
//   <base>/1795417474/         graph.json, weights.safetensors, signature.json, preparation.json, manifest.json,
//                              assets.extra/
//   <base>/temp-1795417474/    an export that is being written, or was when its process died
//
// Any thread may call these functions, also for the same base at the same time. Byte layout: docs/export_format.md.
#pragma once

#include "storage/exports/export_content.hpp"
#include "storage/files/file_system.hpp"

#include <functional>

namespace troupe {

/// Returns seconds since the epoch, for the names of exports.
using export_clock = std::function<int64_t()>;
export_clock system_export_clock();

/// The parts of the environment that exporting needs.
struct export_surroundings {
  std::shared_ptr<file_system> files = posix_file_system();
  export_clock clock = system_export_clock();
  std::string leader = {};  ///< See `export_at`.
};

/// Files to copy. The key is the path within assets.extra/; the value is the path of the source.
using export_assets = std::map<std::string, std::string>;

/// Writes `content` below `base`, which is created if missing. Returns the path "<base>/<seconds>", or "<base>/<n + 1>"
/// if that is not above the newest export n. A number that others take meanwhile is skipped; after a hundred the error
/// is `state`. If somebody removes the directory or `base` during the writing, it is written again, at most twice.
///
/// Afterwards, removes what dead processes have left below `base`, as far as possible: exports begun more than a day
/// ago, and those that were being removed.
///
/// After an error there is no new number below `base`, except if the export is whole but its name could not be made
/// durable. What was begun is removed as far as possible. Errors: invalid_argument for an asset that is not a relative
/// path below assets.extra/; not_found for an asset that does not exist.
expected<std::string> write_export(file_system& fs, const std::string& base, const export_content& content,
                                   const export_assets& assets, const export_clock& clock);

/// Reads the whole export and verifies every checksum. Errors: not_found: not an export; data_loss naming the file and
/// what differs; unimplemented: a later version.
expected<export_content> read_export(file_system& fs, const std::string& directory);
/// Where the export came from. Reads only the manifest and the graph. Errors as above.
expected<export_origin> read_export_origin(file_system& fs, const std::string& directory);

/// Whether the directory has a graph or a manifest.
bool is_export(file_system& fs, const std::string& directory);
/// The numbers of the exports below `base`, ascending; none if `base` is missing. Only names of digits that do not
/// begin with 0 are numbers.
expected<std::vector<int64_t>> exports_in(file_system& fs, const std::string& base);

/// Removes the exports with the smallest numbers until `keep` are left, and returns the removed ones. Counts and
/// removes only directories that are exports and have names of ten digits. An export is renamed before its first file
/// is removed.
expected<std::vector<std::string>> keep_exports(file_system& fs, const std::string& base, int64_t keep);

/// The names of an export's files.
inline constexpr std::string_view graph_file_name = "graph.json", weights_file_name = "weights.safetensors",
                                  signature_file_name = "signature.json", preparation_file_name = "preparation.json",
                                  assets_directory_name = "assets.extra";

}  // namespace troupe
