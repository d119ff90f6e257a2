#include "storage/checkpoints/manifest.hpp"

#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/encodings/base64.hpp"
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/json_tree.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/encodings/sealed_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view manifest_format = "troupe checkpoint";
constexpr int64_t manifest_version = 1;
constexpr std::string_view manifest_crc_member = "manifest_crc32c";

tl::unexpected<error> damaged_manifest(const std::string& path, const std::string& what) {
  return fail(errc::data_loss, path + ": " + what);
}

std::optional<dtype> parse_dtype(std::string_view text) {
  for (const auto t : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean, dtype::uint8})
    if (to_string(t) == text)
      return t;
  return {};
}

expected<listed_file> parse_file(const json_tree::value& j, const std::string& path, checkpoint_id id) {
  auto f = parse_listed_file(j);
  if (!f || id_of_shard(f->name) != id)
    return damaged_manifest(
        path, "the file " + j.at("name").get<std::string>() + " has an impossible name, size or checksum");
  return std::move(*f);
}

expected<stored_tensor_info> parse_tensor(const json_tree::value& j, const std::string& path,
                                          const std::vector<listed_file>& files) {
  stored_tensor_info t{.name = j.at("name").get<std::string>(),
                       .file = j.at("file").get<std::string>(),
                       .offset = integer_of(j.at("offset")),
                       .bytes = integer_of(j.at("bytes"))};
  const auto type = parse_dtype(j.at("dtype").get<std::string>());
  const auto crc = parse_crc32c(j.at("crc32c").get<std::string>());
  std::vector<int64_t> extents;
  for (const auto& extent : j.at("shape").get_ref<const json_tree::value::array_t&>())
    extents.push_back(integer_of(extent));
  if (!type || !crc || extents.size() > static_cast<size_t>(shape::max_rank) || byte_size_of(*type, extents) != t.bytes)
    return damaged_manifest(path, "tensor " + t.name + " has an impossible dtype, shape, size or checksum");
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == t.file; });
  if (file == files.end() || t.offset < file->header_bytes || t.offset > file->bytes - t.bytes)
    return damaged_manifest(
        path, "tensor " + t.name + " lies outside of " + t.file + ", at offset " + std::to_string(t.offset));
  t.type = *type;
  t.dims = shape{extents};
  t.crc32c = *crc;
  return t;
}

}  // namespace

expected<std::string> write_manifest(const manifest& m) {
  json j{{"format", manifest_format}, {"format_version", manifest_version}, {"step", m.id.step}};
  if (m.id.iteration > 0)
    j["iteration"] = m.id.iteration;
  if (m.wall_time > 0)
    j["wall_time"] = m.wall_time;
  j["files"] = json::array();
  for (const auto& f : m.files)
    j["files"].push_back(to_json(f));
  j["tensors"] = json::array();
  for (const auto& t : m.tensors)
    j["tensors"].push_back({{"name", t.name},
                            {"dtype", to_string(t.type)},
                            {"shape", t.dims.extents()},
                            {"file", t.file},
                            {"offset", t.offset},
                            {"bytes", t.bytes},
                            {"crc32c", crc32c_text(t.crc32c)}});
  j["blobs"] = json::object();
  for (const auto& [name, bytes] : m.blobs)
    j["blobs"][name] = to_base64(bytes);
  j["properties"] = json::object();
  for (const auto& [name, text] : m.properties)
    j["properties"][name] = text;
  j[std::string{manifest_crc_member}] = unsealed;
  std::string text;
  try {
    text = j.dump(1) + "\n";
  } catch (const json::exception& e) {
    return fail(errc::invalid_argument, "the name of a tensor or blob, or a property, of step " + to_string(m.id)
                                            + " is not UTF-8: " + e.what());
  }
  return seal(std::move(text));
}

expected<manifest> parse_manifest(std::string text, const std::string& path, checkpoint_id id) {
  if (const auto whole = unseal(text, manifest_crc_member); !whole)
    return damaged_manifest(path, whole.error().message);
  // The checksum is right, so from here on only a defect of the writer or a later version can cause an error.
  return read_json(text, path + ": ", [&](const json_tree::value& j) -> expected<manifest> {
    if (j.at("format") != manifest_format)
      return damaged_manifest(path, "it is not a " + std::string{manifest_format});
    if (const auto version = integer_of(j.at("format_version")); version != manifest_version)
      return fail(errc::unimplemented, path + ": format version " + std::to_string(version)
                                           + ", and this program reads " + std::to_string(manifest_version));
    manifest m{.id = {integer_of(j.at("step")), j.contains("iteration") ? integer_of(j["iteration"]) : 0}};
    if (m.id != id)
      return damaged_manifest(path, "it is that of step " + to_string(m.id));
    m.wall_time = j.value("wall_time", 0.0);
    for (const auto& entry : j.at("files")) {
      auto f = parse_file(entry, path, id);
      if (!f)
        return fail(std::move(f.error()));
      m.files.push_back(std::move(*f));
    }
    for (const auto& entry : j.at("tensors")) {
      auto t = parse_tensor(entry, path, m.files);
      if (!t)
        return fail(std::move(t.error()));
      m.tensors.push_back(std::move(*t));
    }
    for (const auto& [name, value] : j.at("blobs").items()) {
      auto bytes = from_base64(value.get<std::string>());
      if (!bytes)
        return damaged_manifest(path, "the blob " + name + " is not base64");
      m.blobs.emplace(name, std::move(*bytes));
    }
    for (const auto& [name, value] : j.at("properties").items())
      m.properties.emplace(name, value.get<std::string>());
    return m;
  });
}

}  // namespace troupe
