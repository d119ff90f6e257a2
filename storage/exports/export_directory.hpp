// Exported models on disk: each is a directory whose name is a number, which is there whole or not at all.
//
//   <base>/1795417474/         graph.json, weights.safetensors, signature.json, preparation.json, manifest.json, assets.extra/
//   <base>/temp-1795417474/    one that is being written, or was when its process died
//
// Functions may be called from any thread, also for one base at once. docs/export_format.md has the bytes.
#pragma once

#include "storage/exports/export_content.hpp"
#include "storage/files/file_system.hpp"

#include <functional>

namespace troupe {

/// Seconds since the epoch, for the names of exports.
using export_clock = std::function<int64_t()>;
export_clock system_export_clock();

/// What exporting needs of the machine.
struct export_surroundings {
  std::shared_ptr<file_system> files = posix_file_system();
  export_clock clock = system_export_clock();
};

/// Files to copy: the path within assets.extra/ by that of the source.
using export_assets = std::map<std::string, std::string>;

/// Writes `content` below `base`, which is made where missing, and returns the path "<base>/<seconds>", or "<base>/<n + 1>" where that is not
/// above the newest export, n. A number that others take meanwhile is passed over: `state` after a hundred. What somebody removes while it is
/// written, with `base` or without, is made anew, twice at most. After it, what processes that died have left below `base` is removed, as far as
/// that goes: exports that were begun a day ago, and those that were being removed. On an error nothing new has a number, but for one that is whole
/// and whose name could not be made durable; what was begun is removed, as far as that goes.
/// invalid_argument: an asset that is not a relative path below; not_found: one that is not there.
expected<std::string> write_export(file_system& fs, const std::string& base, const export_content& content, const export_assets& assets,
                                   const export_clock& clock);

/// Reads all of it and verifies every checksum. not_found: not an export; data_loss, naming the file and what differs; unimplemented: a later
/// version.
expected<export_content> read_export(file_system& fs, const std::string& directory);
/// Where it came from; of its files only the manifest and the graph are read. Errors as above.
expected<export_origin> read_export_origin(file_system& fs, const std::string& directory);

/// Whether the directory has a graph or a manifest.
bool is_export(file_system& fs, const std::string& directory);
/// The numbers below `base`, ascending; none where it is missing. Names that are not all digits, or begin with 0, are no numbers.
expected<std::vector<int64_t>> exports_in(file_system& fs, const std::string& base);

/// Removes exports until `keep` are left, the smallest numbers first, and returns the removed. Only directories that are exports and whose
/// names are ten digits are counted and touched. An export leaves its name before its first file is removed.
expected<std::vector<std::string>> keep_exports(file_system& fs, const std::string& base, int64_t keep);

/// The names of the files of an export.
inline constexpr std::string_view graph_file_name = "graph.json", weights_file_name = "weights.safetensors", signature_file_name = "signature.json",
                                  preparation_file_name = "preparation.json", assets_directory_name = "assets.extra";

}  // namespace troupe
