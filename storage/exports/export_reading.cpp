// Reads an export: verifies the files that its manifest lists, or reads the files of an older export without a
// manifest.
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/exports/export_directory.hpp"
#include "storage/exports/export_json.hpp"
#include "storage/exports/export_manifest.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

/// Of the texts of an export, of which the graph is the largest. Its weights are read tensor by tensor.
constexpr int64_t export_text_bytes_max = int64_t{1} << 30;

/// The open files of an export.
struct export_files {
  std::string directory;
  bool has_manifest = false;
  std::map<std::string, std::unique_ptr<readable_file>, std::less<>> files = {};

  std::string path(std::string_view name) const { return join_path(directory, name); }
  const readable_file& file(std::string_view name) const { return *files.find(name)->second; }
  expected<std::string> text(std::string_view name) const {
    return read_whole(file(name), path(name), export_text_bytes_max);
  }
};

constexpr std::array all_names{graph_file_name, weights_file_name, signature_file_name, preparation_file_name};

/// Opens an export of format version 1. It has no manifest, so it is only checked that the files exist.
expected<export_files> open_unlisted(file_system& fs, const std::string& directory,
                                     std::span<const std::string_view> names) {
  export_files all{directory};
  for (const auto name : names) {
    const auto path = all.path(name);
    auto file = fs.open(path);
    if (!file && file.error().category == errc::not_found)
      return name == graph_file_name ? fail(
                 errc::not_found, directory + " is not an exported model: it has no " + std::string{graph_file_name})
                                     : fail(errc::data_loss, path + " is missing");
    if (!file)
      return fail(file.error());
    all.files.emplace(name, std::move(*file));
  }
  return all;
}

/// Opens those of the four files that `names` lists, and compares them with the manifest.
expected<export_files> open_files(file_system& fs, const std::string& directory,
                                  std::span<const std::string_view> names) {
  const auto manifest_path = join_path(directory, manifest_file_name);
  auto text = read_file(fs, manifest_path);
  if (!text && text.error().category == errc::not_found)
    return open_unlisted(fs, directory, names);
  if (!text)
    return fail(text.error());
  const auto listed = parse_export_manifest(std::move(*text), manifest_path);
  if (!listed)
    return fail(listed.error());
  export_files all{directory, true};
  for (const auto name : names) {
    const auto f = std::find_if(listed->begin(), listed->end(), [&](const listed_file& l) { return l.name == name; });
    if (f == listed->end())
      return fail(errc::data_loss, manifest_path + " does not list " + std::string{name});
    auto file = open_listed_file(fs, directory, *f);
    if (!file)
      return fail(file.error());
    all.files.emplace(name, std::move(*file));
  }
  return all;
}

expected<graph_file> read_graph(const export_files& from) {
  const auto path = from.path(graph_file_name);
  auto graph = from.text(graph_file_name).and_then([&](const std::string& text) {
    return parse_graph_json(text, path);
  });
  if (graph && !from.has_manifest && graph->format_version > 1)
    return fail(errc::data_loss, from.path(manifest_file_name) + " is missing, and " + std::string{graph_file_name}
                                     + " has format version " + std::to_string(graph->format_version));
  return graph;
}

expected<std::map<std::string, tensor>> read_weights(const export_files& from,
                                                     const std::map<std::string, uint32_t>& checksums) {
  const auto path = from.path(weights_file_name);
  const auto& file = from.file(weights_file_name);
  const auto places = read_safetensors_header(file, path);
  if (!places)
    return fail(places.error());
  std::map<std::string, tensor> tensors;
  for (const auto& place : *places) {
    const auto wanted = checksums.find(place.name);
    if (wanted == checksums.end())
      return fail(errc::data_loss,
                  path + ": the tensor '" + place.name + "' is none of " + std::string{graph_file_name});
    auto read = read_tensor(file, path, place);
    if (!read)
      return fail(std::move(read.error()));
    if (read->crc32c != wanted->second)
      return fail(errc::data_loss, path + ": tensor '" + place.name + "' at offset " + std::to_string(place.offset)
                                       + " has the checksum " + crc32c_text(read->crc32c) + " and should have "
                                       + crc32c_text(wanted->second));
    tensors.emplace(place.name, std::move(read->value));
  }
  for (const auto& [name, crc] : checksums)
    if (!tensors.contains(name))
      return fail(errc::data_loss, path + ": there is no tensor '" + name + "'");
  return tensors;
}

}  // namespace

bool is_export(file_system& fs, const std::string& directory) {
  constexpr std::array beginnings{graph_file_name, manifest_file_name};
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view name) {
    const auto info = fs.info(join_path(directory, name));
    return info && !info->directory;
  });
}

expected<export_content> read_export(file_system& fs, const std::string& directory) {
  const auto files = open_files(fs, directory, all_names);
  if (!files)
    return fail(files.error());
  auto graph = read_graph(*files);
  if (!graph)
    return fail(graph.error());
  auto signatures = files->text(signature_file_name).and_then([&](const std::string& text) {
    return parse_signature_json(text, graph->graph.unknowns, files->path(signature_file_name));
  });
  if (!signatures)
    return fail(signatures.error());
  auto preparation = files->text(preparation_file_name).and_then([&](const std::string& text) {
    return parse_preparation_json(text, files->path(preparation_file_name));
  });
  if (!preparation)
    return fail(preparation.error());
  auto tensors = read_weights(*files, graph->checksums);
  if (!tensors)
    return fail(tensors.error());
  return export_content{std::move(graph->origin), std::move(graph->graph), std::move(*tensors),
                        std::move(*signatures),   std::move(*preparation), files->has_manifest};
}

expected<export_origin> read_export_origin(file_system& fs, const std::string& directory) {
  constexpr std::array graph_alone{graph_file_name};
  return open_files(fs, directory, graph_alone).and_then(read_graph).map([](graph_file&& g) {
    return std::move(g.origin);
  });
}

}  // namespace troupe
